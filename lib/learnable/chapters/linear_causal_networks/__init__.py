"""Linear causal networks: the moral graph from the inverse covariance, then the best DAG inside it, exactly."""
