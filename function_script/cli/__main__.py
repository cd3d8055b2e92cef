"""``python -m function_script.cli``: the command line where no script is installed."""

from function_script.cli import main

if __name__ == "__main__":
    main()
