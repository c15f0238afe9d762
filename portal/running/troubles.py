"""What can keep the portal from starting, and is told in a line; imports little, to start soon."""

from portal.core.settings import SettingsError
from portal.embedded import StartError
from portal.embedded.account import NotRunnableError
from portal.embedded.folder import FolderError

TROUBLES = (FolderError, NotRunnableError, SettingsError, StartError)
