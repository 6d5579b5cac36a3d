"""The paper's figures and tables as declared experiments, and the ledger of its claims."""
