"""The other explainers and the controls, known to the registry by name."""
