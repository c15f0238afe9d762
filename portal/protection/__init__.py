"""Protection against robots and floods: captcha, rate limits, and evidence of both."""
