"""The figures that Fernandez-Delgado et al. (2014) printed, and what can be read off them again.

The table of 121 times 179 accuracies is not in the paper; Tables 3 to 8 give rank, accuracy and kappa of every
classifier. Where Table 4 is damaged, the rank comes from Tables 6 to 8, and accuracy and kappa are missing.
"""

from __future__ import annotations

import numpy as np

# family: name,rank,accuracy,kappa ...
_TABLES = """
DA: fda_t,62.5,78.4,57.5 rda_R,63.8,78.7,56.7 mda_t,66.7,75.5,55.2 pda_t,67.3,77.7,55.6 fda_R,72.1,77.1,54.8
DA: lda_R,72.4,77.0,54.7 lda2_t,74.4,76.9,54.2 sda_t,76.5,76.9,53.8 hdda_R,79.8,76.9,54.7 mda_R,80.9,76.9,54.5
DA: qda_t,96.0,-,- slda_t,103.2,72.2,44.5 PenalizedLDA_R,106.8,68.1,41.5 rrlda_R,108.2,71.5,49.8
DA: sddaLDA_R,112.6,70.1,38.0 sparseLDA_R,113.3,68.2,39.5 stepLDA_t,113.5,70.7,39.9 QdaCov_t,115.8,70.6,46.4
DA: stepQDA_t,116.0,69.5,39.6 sddaQDA_R,118.3,67.5,34.3
BY: BayesNet_w,94.3,75.1,50.7 naiveBayes_R,101.6,73.6,49.3 NaiveBayes_w,107.5,72.5,48.3 vbmpRadial_t,109.4,65.2,46.5
BY: NBUpdateable_w,113.5,70.1,46.5 NaiveBayesSimple_w,118.9,72.0,45.9
NNET: elm_kernel_m,39.6,82.0,62.0 avNNet_t,44.1,79.4,60.5 nnet_t,45.5,79.5,61.0 pcaNNet_t,47.0,78.7,59.4
NNET: mlp_t,47.3,80.3,62.0 pnn_m,58.5,79.7,57.2 dkp_C,59.9,79.7,42.6 mlp_C,62.8,78.5,58.1
NNET: mlpWeightDecay_t,63.6,76.9,56.0 elm_m,67.6,78.7,55.2 MLP_w,70.6,78.3,58.0 rbf_t,72.0,75.7,52.6
NNET: rbfDDA_t,75.9,77.2,55.6 lvq_t,79.1,77.4,53.0 RBFNetwork_w,90.2,76.6,48.5 lvq_R,95.1,71.8,48.7 mlp_m,99.5,-,-
NNET: cascor_C,99.6,74.4,51.6 bdk_R,99.8,75.3,52.7 rbf_m,108.1,69.4,44.6 dpp_C,126.2,65.7,44.7
SVM: svm_C,36.8,81.8,62.2 svmPoly_t,38.0,81.2,60.1 svmRadialCost_t,40.3,81.4,61.1 svmRadial_t,42.5,81.0,60.0
SVM: LibSVM_w,52.6,79.9,56.9 svmLinear_t,62.1,78.7,56.0 SMO_w,69.8,78.1,55.4 svmlight_C,72.4,79.1,55.6
SVM: LibLINEAR_w,74.6,77.5,55.2 lssvmRadial_t,81.6,78.3,55.8
DT: RandomSubSpace_w,74.0,77.4,52.6 C5.0Tree_t,84.2,75.8,53.9 NBTree_w,84.9,76.5,53.4 J48_t,87.6,76.4,51.3
DT: J48_w,87.9,76.2,55.0 rpart_t,91.2,74.0,50.9 ctree_t,91.5,74.0,48.9 ctree2_t,92.4,72.8,48.5
DT: REPTree_w,93.6,75.3,51.1 rpart2_t,93.6,74.7,52.3 rpart_R,94.4,73.5,49.5 obliqueTree_R,96.5,-,-
DT: RandomTree_w,110.0,73.9,51.0 DecisionStump_w,137.5,60.3,26.5
RL: C5.0Rules_t,81.4,76.7,55.2 JRip_t,81.7,75.6,50.9 PART_t,88.0,76.0,51.7 DTNB_w,89.0,76.1,52.4
RL: PART_w,89.5,75.8,54.8 JRip_w,93.1,74.8,51.4 Ridor_w,94.6,76.5,51.6 DecisionTable_w,105.5,72.1,46.7
RL: OneR_t,132.1,63.3,36.2 OneR_w,133.4,-,- ConjunctiveRule_w,136.6,-,- ZeroR_w,154.6,49.2,2.7
BST: C5.0_t,42.9,80.6,61.0 MAB_LibSVM_w,52.5,80.6,58.0 adaboost_R,57.6,79.1,59.3 MAB_MLP_w,64.0,79.0,58.6
BST: MAB_RandomForest_w,64.1,79.9,56.9 MAB_PART_w,65.6,78.6,58.4 MAB_J48_w,69.2,78.3,57.4
BST: AdaBoostM1_J48_w,72.6,78.4,57.9 MAB_REPTree_w,73.7,77.9,56.0 LogitBoost_w,76.6,77.3,54.8
BST: MAB_RandomTree_w,76.6,78.2,57.3 MAB_Logistic_w,82.0,76.1,53.3 MAB_DecisionTable_w,87.2,74.6,50.3
BST: MAB_NaiveBayes_w,106.2,72.7,48.0 logitboost_R,106.6,59.3,71.7 AdaBoostM1_DecisionStump_w,122.2,63.5,35.1
BST: MAB_DecisionStump_w,129.6,62.3,31.8 MAB_IBk_w,130.9,62.1,29.6 MAB_OneR_w,133.2,-,- RILB_w,138.0,56.6,15.1
BAG: BG_LibSVM_w,47.1,80.8,53.0 treebag_t,66.4,79.2,58.9 BG_PART_w,66.6,78.2,56.8 BG_REPTree_w,69.8,78.8,56.7
BAG: BG_RandomTree_w,71.0,78.8,58.2 BG_J48_w,71.0,77.8,56.2 BG_IBk_w,72.7,78.4,56.2 ldaBag_R,72.9,77.1,54.6
BAG: BG_LWL_w,73.2,78.3,56.2 svmBag_R,74.6,74.1,51.8 BG_RandomForest_w,77.1,78.4,54.0 ctreeBag_R,78.7,76.6,50.5
BAG: BG_Logistic_w,79.0,76.8,53.5 BG_DecisionTable_w,84.6,75.7,50.8 bagging_R,90.5,67.5,45.8 plsBag_R,97.0,-,-
BAG: nbBag_R,100.8,73.8,48.9 nnetBag_R,104.5,62.6,33.1 BG_NaiveBayes_w,110.4,71.6,46.5 BG_OneR_w,130.9,64.2,33.2
BAG: BG_DecisionStump_w,133.7,-,- BG_HyperPipes_w,138.6,60.3,26.1 BG_MLP_w,145.8,53.9,15.3 MetaCost_w,154.5,49.2,7.6
STC: Stacking_w,154.0,49.3,3.2 StackingC_w,154.1,49.3,3.2
RF: parRF_t,32.9,82.0,63.5 rf_t,33.1,82.3,63.6 rforest_R,39.4,81.9,62.5 RotationForest_w,47.6,80.6,60.0
RF: RRF_t,50.1,80.9,61.6 RRFglobal_t,51.6,80.7,61.4 cforest_t,58.9,78.5,54.7 RandomForest_w,60.5,80.0,57.4
OEN: RandomCommittee_w,63.0,79.9,59.4 Decorate_w,63.4,78.7,58.4 END_w,76.6,78.1,56.5 MCC_w,80.6,75.9,53.3
OEN: Dagging_w,95.3,73.9,45.8 OCC_w,97.2,-,- LWL_w,122.7,68.3,39.4 Grading_w,154.0,49.3,3.2
OEN: MultiScheme_w,154.6,49.2,2.7 CSC_w,154.6,49.2,5.6 Vote_w,154.6,49.2,2.7
GLM: glmnet_R,65.5,77.8,55.7 mlm_R,71.0,77.1,55.1 bayesglm_t,114.8,58.1,32.4 glmStepAIC_t,120.8,57.6,32.5
GLM: glm_R,126.1,50.8,30.5
NN: knn_t,62.6,78.6,56.0 knn_R,65.0,79.0,56.8 NNge_w,91.7,76.6,54.1 IB1_w,94.5,76.4,54.5 IBk_w,95.3,76.0,53.9
PLSR: pls_t,79.1,74.4,50.7 widekernelpls_R,111.3,62.5,38.4 simpls_R,111.9,62.2,39.6 kernelpls_R,113.1,61.0,38.2
PLSR: gpls_R,120.1,55.3,33.3 spls_R,143.3,53.2,17.9
LMR: multinom_t,65.2,77.9,56.2 SimpleLogistic_w,67.6,77.8,54.2 Logistic_w,78.5,76.5,53.7
MARS: gcvEarth_t,65.5,77.4,56.6 mars_R,111.9,63.3,43.7
OM: gaussprRadial_R,60.4,80.1,55.8 CVR_w,66.0,78.5,56.5 ASC_w,86.4,76.3,52.6 KStar_w,87.2,77.1,54.2
OM: FilteredClassifier_w,93.0,74.7,50.1 pam_t,103.6,72.8,41.3 VFI_w,135.5,-,- HyperPipes_w,143.8,57.8,24.3
OM: CVPS_w,154.0,49.3,3.2 CVC_w,157.4,52.1,25.1
"""
# Table 5, in percent.
_PAMA = (
    "elm_kernel_m 13.2 svm_C 10.7 parRF_t 9.9 C5.0_t 9.1 adaboost_R 9.1 rforest_R 8.3 nnet_t 6.6 svmRadialCost_t 6.6 "
    "rf_t 5.8 RRF_t 5.8 mlp_t 5.0 pnn_m 5.0 dkp_C 5.0 LibSVM_w 5.0 svmPoly_t 5.0 treebag_t 5.0 RRFglobal_t 5.0 "
    "svmlight_C 5.0 BG_RandomForest_w 4.1 mda_t 4.1"
)
_P95 = (
    "parRF_t 71.1 svm_C 70.2 rf_t 68.6 rforest_R 65.3 BG_LibSVM_w 63.6 svmRadialCost_t 63.6 svmRadial_t 62.8 "
    "svmPoly_t 62.8 LibSVM_w 62.0 C5.0_t 61.2 elm_kernel_m 60.3 MAB_LibSVM_w 60.3 RandomForest_w 57.0 RRF_t 56.2 "
    "pcaNNet_t 55.4 RotationForest_w 54.5 avNNet_t 53.7 nnet_t 53.7 RRFglobal_t 53.7 mlp_t 52.1"
)
_PMA = (
    "parRF_t 94.1 rf_t 93.6 rforest_R 93.3 C5.0_t 92.5 RotationForest_w 92.5 svm_C 92.3 mlp_t 92.1 LibSVM_w 91.7 "
    "RRF_t 91.4 dkp_C 91.4 RandomCommittee_w 91.4 nnet_t 91.3 avNNet_t 91.1 RRFglobal_t 91.0 knn_R 90.5 "
    "BG_LibSVM_w 90.5 BG_REPTree_w 90.4 MAB_MLP_w 90.4 elm_m 90.3 rda_R 90.3"
)
# Figure 7: Weka's bagging (BG) and MultiBoost (MAB) of these base classifiers.
_BASES = (
    "LibSVM RandomForest PART J48 REPTree RandomTree Logistic DecisionTable NaiveBayes DecisionStump IBk OneR MLP LWL"
)


def published_results():
    """The 179 classifiers of Fernandez-Delgado et al. (2014) with the figures printed for them. Cost O(1)."""
    import pandas as pd

    rows = []
    for line in _TABLES.split("\n"):
        family, _, members = line.partition(":")
        for member in members.split():
            name, *numbers = member.split(",")
            rows.append((name, family, *(np.nan if text == "-" else float(text) for text in numbers)))
    frame = pd.DataFrame(rows, columns=["classifier", "family", "rank", "accuracy", "kappa"]).set_index("classifier")
    frame = frame.sort_values("rank", kind="stable")
    for name, text in (("pama", _PAMA), ("p95", _P95), ("pma", _PMA)):
        words = text.split()
        printed = pd.Series([float(value) for value in words[1::2]], index=words[::2])
        frame[name] = printed.reindex(frame.index)
    return frame


def family_summary(ranks, family):
    """Best, mean and worst rank of each family of classifiers, best family first. Cost O(c log c)."""
    import pandas as pd

    if isinstance(ranks, pd.Series) and isinstance(family, pd.Series):
        family = family.reindex(ranks.index)
    groups = pd.Series(np.asarray(ranks, dtype=float)).groupby(np.asarray(family, dtype=object))
    return groups.agg(["min", "mean", "max", "count"]).sort_values("min").rename_axis(None)


def ensemble_vs_base(results=None):
    """Rank of each bagged or boosted version beside its base classifier (Figure 7). Cost O(c)."""
    import pandas as pd

    results = published_results() if results is None else results
    rank, found = results["rank"], {}
    for base in _BASES.split():
        names = f"{base}_w", f"BG_{base}_w", f"MAB_{base}_w"
        if names[0] in rank.index:
            found[base] = [float(rank.get(name, np.nan)) for name in names]
    frame = pd.DataFrame(found, index=["base", "bagging", "multiboost"]).T
    return frame.sort_values("base", kind="stable")
