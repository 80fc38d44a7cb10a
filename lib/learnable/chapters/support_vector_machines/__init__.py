"""Support vector machines: margins, duality, soft margins, bounds (Lember 2012, Sec. 4.1-4.4)."""
