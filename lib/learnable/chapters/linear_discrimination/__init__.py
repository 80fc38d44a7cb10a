"""Linear discrimination: moment bounds, exact error minimisation, least squares, logistic, Fisher."""
