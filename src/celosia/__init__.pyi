from celosia import budget as budget
from celosia import errors as errors
from celosia import fuzzy as fuzzy
from celosia import hierarchy as hierarchy
from celosia import loss as loss
from celosia import mechanisms as mechanisms
from celosia import methods as methods
from celosia import models as models
from celosia import risk as risk
from celosia import statistics as statistics
from celosia.verbs import Assessment as Assessment
from celosia.errors import CelosiaError as CelosiaError
from celosia.verbs import Comparison as Comparison
from celosia.hierarchy import Hierarchy as Hierarchy
from celosia.table import Outcome as Outcome
from celosia.policy import Policy as Policy
from celosia.release import Release as Release
from celosia.schema import Schema as Schema
from celosia.table import Table as Table
from celosia.verbs import assess as assess
from celosia.verbs import compare as compare
from celosia.explore import explore as explore
from celosia.verbs import protect as protect
from celosia.table import read as read
from celosia.run import run as run

__version__: str
