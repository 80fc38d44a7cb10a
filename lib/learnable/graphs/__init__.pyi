from .order_independent_pc import (
    FCI as FCI,
    PC as PC,
    RFCI as RFCI,
    choose_alpha_bic as choose_alpha_bic,
    ida as ida,
    ida_lower_bounds as ida_lower_bounds,
    stability_selection as stability_selection,
)
