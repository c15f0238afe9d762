"""The account's pages: login, sessions, access tokens, inbox and settings."""
