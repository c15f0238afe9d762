"""What can keep the portal from starting, and is told in a line; imports little, to start soon."""

from portal.config import SettingsError
from portal.embedded import StartError
from portal.embedded.folder import FolderError
from portal.embedded.account import NotRunnableError

TROUBLES = (FolderError, NotRunnableError, SettingsError, StartError)
