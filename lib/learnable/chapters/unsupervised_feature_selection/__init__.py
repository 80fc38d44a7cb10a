"""Choosing features without labels: FSSEM wrapper clustering (Dy and Brodley 2004)."""
