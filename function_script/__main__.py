"""``python -m function_script``: the command line where no script is installed."""

from function_script.start import main

if __name__ == "__main__":
    main()
