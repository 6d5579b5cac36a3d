"""Explanations as DICOM files, so that they stand next to the photograph in its study.

The overlay is a Secondary Capture, which every viewer shows; the scores are a Parametric Map, which
keeps their values. Both have the size of the source image and its patient and study identifiers.
Written by highdicom, with the `dicom` extra.
"""

import copy
from io import BytesIO
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssplain.data.dicom import read_dicom, read_header
from ssplain.data.images import resize
from ssplain.errors import SSplainError
from ssplain.explain import Explanation
from ssplain.files import hash_bytes
from ssplain.report.render import overlay
from ssplain.version import __version__

MAKER = "ssplain"
_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
_AXES = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
# what a study's identifiers are taken from; empty where the source leaves them out
_NEEDED = (
    "PatientID", "PatientName", "PatientBirthDate", "PatientSex", "AccessionNumber", "StudyID",
    "StudyDate", "StudyTime", "ReferringPhysicianName",
)  # fmt: skip


def dicom_files(result: Explanation, source: str, page: int | None, model: str) -> dict[str, bytes]:
    """Return `overlay.dcm` and `map.dcm` of one explained image.

    Args:
        result: the explanation of one image.
        source: the file that the image was read from; one that is not DICOM gives no files, since
            it belongs to no study.
        page: which image of that file.
        model: for the description.
    """
    if not _is_dicom(source):
        return {}
    try:
        import highdicom  # noqa: F401, PLC0415 - only with the extra
    except ImportError as error:
        raise SSplainError(
            f"Writing DICOM needs a package ({error}); install it with "
            "`pip install ssplain[dicom]`."
        ) from error
    original = read_dicom(source, page)
    size = (int(original.shape[1]), int(original.shape[2]))
    support = _to_size(result.support[0].float(), size) > 0.5
    scores = _to_size(result.scores[0] * result.support[0], size)
    text = f"{model}: {result.settings.get('explainer', 'explanation')}"
    return _files(_with_identifiers(source), original, scores, support, text)


def nobodys_files(image: Tensor, scores: Tensor, support: Tensor, text: str) -> dict[str, bytes]:
    """Return `overlay.dcm` and `map.dcm` that name no patient, in a study of their own.

    Args:
        image: `(C, H, W)`.
        scores: `(1, H, W)`.
        support: `(1, H, W)` boolean.
        text: the description.
    """
    from pydicom import Dataset  # noqa: PLC0415 - only with the extra
    from pydicom.uid import generate_uid  # noqa: PLC0415

    header = Dataset()
    header.SOPClassUID, header.NumberOfFrames = _CAPTURE, 1
    header.Rows, header.Columns = int(image.shape[1]), int(image.shape[2])
    for name in _NEEDED:
        setattr(header, name, "")
    for name in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID"):
        setattr(header, name, generate_uid(prefix=None))
    return _files(header, image, scores, support, text)


def _files(
    header: Any,  # noqa: ANN401 - pydicom has no types
    image: Tensor,
    scores: Tensor,
    support: Tensor,
    text: str,
) -> dict[str, bytes]:
    return {
        "overlay.dcm": _bytes(_capture(header, overlay(image, scores, support), text)),
        "map.dcm": _bytes(_parametric_map(header, scores[0].float().numpy(), text)),
    }


def _is_dicom(path: str) -> bool:
    with open(path, "rb") as file:  # noqa: PTH123 - as given
        return file.read(132)[128:] == b"DICM"


def _to_size(plane: Tensor, size: tuple[int, int]) -> Tensor:
    """Bring a plane `(1, H, W)` to the source's size; enlarged, it stays what each pixel said."""
    if plane.shape[1] > size[0] or plane.shape[2] > size[1]:
        low, high = float(plane.min()), float(plane.max())
        span = high - low or 1.0
        return resize((plane - low) / span, size) * span + low
    return torch.nn.functional.interpolate(plane[None], size=size, mode="nearest")[0]


def _with_identifiers(path: str) -> Any:  # noqa: ANN401 - pydicom has no types
    header = read_header(path)
    header.NumberOfFrames = 1  # one image is answered, whatever else the file holds
    for name in _NEEDED:
        if name not in header:
            setattr(header, name, "")
    for name in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID", "SOPClassUID"):
        if not header.get(name):
            raise SSplainError(f"{path} has no {name}, so DICOM results would belong to no study.")
    return header


def _uid(header: Any, kind: str, text: str) -> str:  # noqa: ANN401
    """Return an identifier that is the same for the same image and kind of result."""
    digest = hash_bytes(f"{header.SOPInstanceUID}{kind}{text}{__version__}")
    return f"2.25.{int(digest[:32], 16)}"


def _capture(header: Any, picture: np.ndarray, text: str) -> Any:  # noqa: ANN401
    from highdicom.sc import SCImage  # noqa: PLC0415 - only with the extra

    made = SCImage.from_ref_dataset(
        ref_dataset=header,
        pixel_array=picture,
        photometric_interpretation="RGB",
        bits_allocated=8,
        coordinate_system="PATIENT",
        patient_orientation=_orientation(header),
        laterality=_laterality(header),
        series_instance_uid=_uid(header, "overlay series", text),
        series_number=_series(header, 1),
        sop_instance_uid=_uid(header, "overlay", text),
        instance_number=1,
        manufacturer=MAKER,
        transfer_syntax_uid="1.2.840.10008.1.2.1",
    )
    made.SeriesDescription = f"SSplain overlay, {text}"[:64]
    made.SoftwareVersions = __version__
    return made


def _parametric_map(header: Any, scores: np.ndarray, text: str) -> Any:  # noqa: ANN401
    from highdicom import (  # noqa: PLC0415 - only with the extra
        PixelMeasuresSequence,
        PlaneOrientationSequence,
        PlanePositionSequence,
        VOILUTTransformation,
    )
    from highdicom.pm import ParametricMap, RealWorldValueMapping  # noqa: PLC0415
    from pydicom.sr.codedict import codes  # noqa: PLC0415
    from pydicom.sr.coding import Code  # noqa: PLC0415

    low, high = float(scores.min()), float(scores.max())
    mapping = RealWorldValueMapping(
        lut_label="SCORE",
        lut_explanation="what the decision rests on",
        unit=codes.UCUM.NoUnits,
        value_range=(low, max(high, low + 1e-6)),
        slope=1.0,
        intercept=0.0,
        quantity_definition=Code("attribution", "99SSPLAIN", "Attribution score"),
    )
    spacing = [float(v) for v in header.get("PixelSpacing") or (1.0, 1.0)]
    made = ParametricMap(
        source_images=[_on_a_plane(header, spacing)],
        pixel_array=scores[None],
        series_instance_uid=_uid(header, "map series", text),
        series_number=_series(header, 2),
        sop_instance_uid=_uid(header, "map", text),
        instance_number=1,
        manufacturer=MAKER,
        manufacturer_model_name="SSplain",
        software_versions=__version__,
        device_serial_number="0",
        contains_recognizable_visual_features=False,
        real_world_value_mappings=[mapping],
        voi_lut_transformations=[
            VOILUTTransformation(
                window_center=(low + high) / 2,
                window_width=max(high - low, 1e-6),
                voi_lut_function="LINEAR_EXACT",
            )
        ],
        pixel_measures=PixelMeasuresSequence(pixel_spacing=spacing, slice_thickness=1.0),
        plane_orientation=PlaneOrientationSequence("PATIENT", _AXES),
        plane_positions=[PlanePositionSequence("PATIENT", (0.0, 0.0, 0.0))],
        content_label="SSPLAIN",
        content_description=text[:64],
    )
    made.SeriesDescription = f"SSplain scores, {text}"[:64]
    made.Laterality = _laterality(header) or ""
    for reference in made.iterall():
        if reference.keyword == "ReferencedSOPClassUID" and reference.value == _CAPTURE:
            reference.value = header.SOPClassUID
    return made


def _on_a_plane(header: Any, spacing: list[float]) -> Any:  # noqa: ANN401
    """Return a header as that of a flat picture, which is what a photograph is.

    A Parametric Map lies in space. A photograph does not say where it was, and is of a class in
    which highdicom looks for volumes; so the map lies in a plane of its own.
    """
    plane = copy.deepcopy(header)
    plane.SOPClassUID = _CAPTURE
    plane.FrameOfReferenceUID = _uid(header, "plane", "")
    plane.ImagePositionPatient, plane.ImageOrientationPatient = [0.0, 0.0, 0.0], list(_AXES)
    plane.PixelSpacing, plane.SliceThickness = spacing, 1.0
    del plane.NumberOfFrames
    return plane


def _orientation(header: Any) -> tuple[str, str]:  # noqa: ANN401
    given = header.get("PatientOrientation")
    # of a photograph of an eye: rows run to the left or right, columns down
    return (str(given[0]), str(given[1])) if given and len(given) == 2 else ("L", "F")


def _laterality(header: Any) -> str | None:  # noqa: ANN401
    found = str(header.get("ImageLaterality") or header.get("Laterality") or "")
    return found if found in {"L", "R"} else None  # both eyes are no side


def _series(header: Any, more: int) -> int:  # noqa: ANN401
    return 9000 + 10 * int(header.get("SeriesNumber") or 0) % 900 + more


def _bytes(made: Any) -> bytes:  # noqa: ANN401
    stream = BytesIO()
    made.save_as(stream, enforce_file_format=True)
    return stream.getvalue()
