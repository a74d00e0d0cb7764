"""Pictures: training curves, attention, encoder states. Same bytes each time, no window needed.

Figures are made without pyplot, so no backend but Agg is ever loaded, whatever MPLBACKEND says.
"""
