"""Where tools come from: functions of the notebook, plugin folders."""
