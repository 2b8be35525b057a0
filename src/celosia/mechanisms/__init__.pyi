from celosia.mechanisms.additive import DiscreteGaussian as DiscreteGaussian
from celosia.mechanisms.additive import Gaussian as Gaussian
from celosia.mechanisms.additive import Geometric as Geometric
from celosia.mechanisms.additive import Laplace as Laplace
from celosia.mechanisms.exponential import Exponential as Exponential
from celosia.mechanisms.noisy_histogram import NoisyHistogram as NoisyHistogram
from celosia.mechanisms.quantile import Quantile as Quantile
from celosia.mechanisms.randomised_response import RandomisedResponse as RandomisedResponse
