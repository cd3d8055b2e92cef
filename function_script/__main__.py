"""``python -m function_script``: the command line without the console script."""

from function_script.start import main

if __name__ == "__main__":
    main()
