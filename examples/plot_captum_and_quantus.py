"""Beside Captum and Quantus
=========================

An explainer of Captum's in our registry, ours in a measure of Quantus'.
"""

import captum.attr
import numpy as np
from quantus import Sparseness

import ssplain
from ssplain.explain import METHODS, captum_method, for_quantus

model = ssplain.models.load("lenet5-mnist")
images, labels = (values[:1] for values in ssplain.data.bundled("mnist"))
ablation = captum_method("ablation", captum.attr.FeatureAblation, perturbations_per_eval=98)
if ablation.name not in METHODS:
    METHODS.add(ablation)

for name, kind in (("ssplain-0", "mask"), ("ssplain-0", "scores"), ("ablation", "scores")):
    measure = Sparseness(disable_warnings=True, display_progressbar=False)
    explain = for_quantus(name, dataset="mnist", kind=kind)
    values = measure(model, images.numpy(), labels.numpy(), explain_func=explain)
    print(f"{name} ({kind}): sparseness {np.mean(values):.2f}")
