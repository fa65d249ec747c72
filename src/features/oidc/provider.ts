/** Talks to the company's OpenID Connect provider: the authorization code flow with PKCE. */

import { AppError } from "@atrium/contract/errors.ts";
import { HOUR_MS } from "@atrium/contract/time.ts";
import * as oauth from "oauth4webapi";
import { TtlCache } from "../../platform/cache.ts";
import type { OidcSettings } from "../../platform/config.ts";
import { logError } from "../../platform/log.ts";
import type { Flow } from "./flow.ts";

const TIMEOUT_MS = 10_000;
const CLOCK_TOLERANCE_SECONDS = 30;
const METADATA_MS = HOUR_MS;

/** The metadata of issuers; the library keeps an issuer's keys with them. */
const metadata = new TtlCache<oauth.AuthorizationServer>({ ttlMs: METADATA_MS, maxEntries: 10 });

/** What the provider says of a person. */
export interface Claims {
  readonly subject: string;
  /** As the provider spells it. */
  readonly email: string | null;
  readonly isVerified: boolean;
  readonly name: string | null;
}

/** A request that the provider is asked, or its answer; `redirectUri` is the page that it sends browsers back to. */
interface Exchange {
  readonly settings: OidcSettings;
  readonly redirectUri: string;
  readonly now: number;
}

type Secrets = Pick<Flow, "state" | "nonce" | "verifier">;

const optionsFor = ({ issuer }: OidcSettings) => ({
  signal: () => AbortSignal.timeout(TIMEOUT_MS),
  [oauth.allowInsecureRequests]: issuer.startsWith("http:"),
});

async function discover(settings: OidcSettings, now: number): Promise<oauth.AuthorizationServer> {
  const known = metadata.get(settings.issuer, now);
  if (known !== undefined) return known;
  const issuer = new URL(settings.issuer);
  const response = await oauth.discoveryRequest(issuer, optionsFor(settings));
  const found = await oauth.processDiscoveryResponse(issuer, response);
  if (!/^https?:$/.test(URL.parse(found.authorization_endpoint ?? "")?.protocol ?? ""))
    throw new Error("The issuer's metadata has no authorization_endpoint that is an address");
  metadata.set(settings.issuer, found, now);
  return found;
}

/** The secrets of a new flow, and the address at the provider that it begins at. FORBIDDEN, and logged, on a failure. */
export async function authorize({ settings, redirectUri, now }: Exchange) {
  const secrets: Secrets = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
  const { authorization_endpoint } = await discover(settings, now).catch((error: unknown) => {
    throw refusalOf(error, settings);
  });
  const url = new URL(authorization_endpoint ?? "");
  const parameters = {
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid email profile",
    code_challenge: await oauth.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: "S256",
    state: secrets.state,
    nonce: secrets.nonce,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, secrets };
}

/**
 * What the provider says of the person who comes back with `query`. Throws FORBIDDEN when the query answers another
 * request, was used, or is a refusal, and when the provider fails or its answer is not valid, which is logged.
 */
export async function exchange(
  { settings, redirectUri, now }: Exchange,
  query: string,
  { state, nonce, verifier }: Secrets,
): Promise<Claims> {
  const [client, options] = [clientOf(settings), optionsFor(settings)];
  try {
    const server = await discover(settings, now);
    const parameters = validated(server, client, query, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authenticationOf(settings, server), parameters, redirectUri, verifier] as const),
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, options);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new Error("The provider sent no ID token");
    if (claims.sub === "") throw new Error("The provider sent no ID of the person");
    if (saysWhoseAddress(claims) || server.userinfo_endpoint === undefined)
      return presentClaims(claims.sub, claims);
    const further = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    const info = await oauth.processUserInfoResponse(server, client, claims.sub, further);
    const isOfSameAddress = info.email === undefined || info.email === claims.email;
    return presentClaims(claims.sub, { ...(isOfSameAddress && claims), ...info });
  } catch (error) {
    throw refusalOf(error, settings);
  }
}

/** The parameters of an answer to this request, or the provider's error. */
function validated(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  query: string,
  state: string,
): URLSearchParams {
  try {
    return oauth.validateAuthResponse(server, client, new URLSearchParams(query), state);
  } catch (error) {
    throw error instanceof oauth.AuthorizationResponseError ? error : flowGone();
  }
}

const clientOf = ({ clientId }: OidcSettings): oauth.Client => ({
  client_id: clientId,
  [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
});

/** By HTTP Basic, which every provider has to know, unless it lists the form alone. */
function authenticationOf(
  { clientSecret }: OidcSettings,
  server: oauth.AuthorizationServer,
): oauth.ClientAuth {
  if (clientSecret === null) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret);
}

type JsonClaims = Readonly<Record<string, unknown>>;

/** Whether both the address and its verification stand in one document: neither vouches for another one's. */
const saysWhoseAddress = ({ email, email_verified, xms_edov }: JsonClaims): boolean =>
  email !== undefined && (email_verified !== undefined || xms_edov !== undefined);

function presentClaims(subject: string, claims: JsonClaims): Claims {
  const textOf = (name: string) => (typeof claims[name] === "string" ? claims[name] : null);
  return {
    subject,
    email: textOf("email"),
    isVerified: isTrue(claims.email_verified) || isTrue(claims.xms_edov),
    name: textOf("name") ?? textOf("preferred_username"),
  };
}

/** Some providers send the text. `xms_edov` of Microsoft Entra ID says that the tenant owns the address's domain. */
const isTrue = (claim: unknown): boolean => [true, "true", 1, "1"].some((value) => value === claim);

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** The refusal of an answer that belongs to no sign-in of this browser, or comes again. */
export const flowGone = () =>
  forbidden("This sign-in has expired or was used, or another one began in this browser; start again");

/** Errors at the authorization endpoint by which the person, or a rule of the company, refuses. */
const DENIED =
  /^(access_denied|consent_required|interaction_required|login_required|account_selection_required)$/;

/** The sentence for the person; what only the operator can mend is logged. */
function refusalOf(error: unknown, { name }: OidcSettings): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof oauth.AuthorizationResponseError && DENIED.test(error.error))
    return forbidden(`${name} did not sign you in; try again, or ask its administrator for access`);
  if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") return flowGone();
  logError("The sign-in by the OpenID Connect provider failed", {}, readable(error));
  return forbidden(
    isOutage(error)
      ? `${name} could not be reached; try again in a minute`
      : `${name} refused this service or answered wrongly; the operator finds the reason in the service's log`,
  );
}

const FIRST_SERVER_ERROR = 500;

/** True unless the provider has answered, and not with an error of its own. */
function isOutage(error: unknown): boolean {
  if (error instanceof oauth.AuthorizationResponseError)
    return /^(server_error|temporarily_unavailable)$/.test(error.error);
  if (error instanceof oauth.ResponseBodyError) return error.status >= FIRST_SERVER_ERROR;
  if (error instanceof oauth.OperationProcessingError)
    return error.cause instanceof Response && error.cause.status >= FIRST_SERVER_ERROR;
  return !(
    error instanceof oauth.WWWAuthenticateChallengeError || error instanceof oauth.UnsupportedOperationError
  );
}

/** The error without its cause, which may contain tokens, but with the provider's code. */
function readable(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof oauth.ResponseBodyError)
    return new Error(`${message}: ${error.error} ${error.error_description ?? ""}`.trimEnd());
  // A browser may have changed the code.
  const isCode = error instanceof oauth.AuthorizationResponseError && /^[a-z_]{1,64}$/.test(error.error);
  return new Error(isCode ? `${message}: ${error.error}` : message);
}
