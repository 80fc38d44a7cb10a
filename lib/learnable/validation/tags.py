"""Facts that the user of an estimator should know, as tags on its class.

``_depends_on_units`` names the changes of unit after which the estimator gives another answer, with what to do about
it; ``_takes`` says what it takes in place of a table of real numbers. The reference shows both, and the tests of the
package hold every estimator to them: one without the tag must not depend on units.
"""

from __future__ import annotations

__all__ = ["ONE_DISTANCE", "ONE_NORM", "ONE_PENALTY", "unit_facts"]


def unit_facts(*, columns=None, origin=None):
    """Why answers change with the units of single columns, and with the origin of the scale.

    Parameters
    ----------
    columns, origin : str, optional
        The reason, and what to do; None where nothing changes.

    Returns
    -------
    dict

    Examples
    --------
    >>> unit_facts(columns="cubes have equal edges")
    {'columns': 'cubes have equal edges'}
    """
    return {name: why for name, why in {"columns": columns, "origin": origin}.items() if why}


ONE_DISTANCE = unit_facts(columns="one distance over all columns: standardise them")
ONE_PENALTY = unit_facts(columns="one penalty for all pairs or coefficients: standardise the columns")
ONE_NORM = unit_facts(columns="one l1 norm over all columns: standardise them")
