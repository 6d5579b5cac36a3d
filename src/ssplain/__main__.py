"""`python -m ssplain` is `ssplain`."""

from ssplain.cli import main

main()
