"""Run a stage with everything around it: checks, lock, record in MLflow. dvc.yaml calls this.

Example:
    python -m pipeline.run train --model additive --seed 1
"""

from pathlib import Path

from nmt.run import main

if __name__ == "__main__":
    main(Path(__file__).resolve().parent.parent)
