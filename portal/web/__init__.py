"""The pages of the portal: thin views over the packages below."""
