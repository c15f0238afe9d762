// A certified OpenID provider with a login form that takes any password; argv tells what it is like.

import { generateKeyPairSync } from "node:crypto";

import { Provider } from "oidc-provider";

const { issuer, back, home, skew, forged, discreet } = JSON.parse(process.argv[2]);

const now = Date.now;
Date.now = () => now() + skew * 1000;

const person = (_, name) => ({
  accountId: name,
  claims: () => ({
    sub: name,
    preferred_username: name,
    email: `${name}@u.example`,
    email_verified: name !== "ben",
  }),
});

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "fairseat",
      client_secret: "a secret between the two of them",
      redirect_uris: [back],
      post_logout_redirect_uris: [home],
    },
  ],
  claims: { profile: ["preferred_username"], email: ["email", "email_verified"] },
  conformIdTokenClaims: discreet, // then only its userinfo tells more than who it is
  cookies: { keys: ["for tests alone"] },
  findAccount: person,
  pkce: { required: () => true },
});

// What it signs with is not what it says that it signs with.
if (forged) {
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
  provider.use(async (context, next) => {
    await next();
    if (context.path === "/jwks") context.body.keys = context.body.keys.map((key) => ({ ...key, ...other }));
  });
}

const { hostname, port } = new URL(issuer);
provider.listen(Number(port), hostname, () => console.log("ready"));
process.stdin.on("end", () => process.exit()).resume(); // it ends with whoever began it
