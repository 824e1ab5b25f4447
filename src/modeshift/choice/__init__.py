"""Rules that choose a bandwidth: one file a rule, and the parts of the automatic one."""
