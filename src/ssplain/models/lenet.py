"""LeNet-5, the network that the paper explains on MNIST and Fashion-MNIST."""

from torch import nn


class LeNet5(nn.Sequential):
    """LeNet-5 (LeCun, Bottou, Bengio and Haffner, Proc. IEEE 86, 1998) for 28x28 grey images.

    Two 5x5 convolutions of 6 and 16 channels, each with tanh and 2x2 average pooling, then fully
    connected layers of 120, 84 and 10 units. The first convolution pads by 2, which gives the
    32x32 frame of the original. Layer C5 is written as the fully connected layer it is equal to at
    this size, so `conv2` is the last convolution and keeps a 10x10 grid for Grad-CAM.

    Takes images (N, 1, 28, 28) in [0, 1], not normalised, so that a zero background stays zero;
    gives logits (N, 10). Every activation is a module that is used once, as methods that replace
    or hook activations need.

    Example:
        >>> import torch
        >>> LeNet5()(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 10])
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.tanh1 = nn.Tanh()
        self.pool1 = nn.AvgPool2d(2)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.tanh2 = nn.Tanh()
        self.pool2 = nn.AvgPool2d(2)
        self.flatten = nn.Flatten()
        self.full1 = nn.Linear(16 * 5 * 5, 120)
        self.tanh3 = nn.Tanh()
        self.full2 = nn.Linear(120, 84)
        self.tanh4 = nn.Tanh()
        self.full3 = nn.Linear(84, 10)
