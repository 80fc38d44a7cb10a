"""Kernel methods: kernels, machines that use them, and their tuning."""
