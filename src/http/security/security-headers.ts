/** The security headers of the service's own pages: they load from and connect to this service only, and are never framed. */

/** Sources that a page needs in addition to this service, by directive. */
export type PageNeeds = Readonly<Record<string, string>>;

/** The asset with the headers of a page. For why this is not Hono's secureHeaders(), see docs/decisions/0013. */
export function withPageHeaders(asset: Response, url: URL, needs: PageNeeds = {}): Response {
  const response = new Response(asset.body, asset);
  const { headers } = response;
  headers.set("Content-Security-Policy", policyFor(url, needs));
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "DENY");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/** Names the WebSocket origin, because some browsers do not include it in 'self'. */
const policyFor = ({ protocol, host }: URL, needs: PageNeeds): string => {
  const directives: PageNeeds = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": `'self' ${protocol === "https:" ? "wss" : "ws"}://${host}`,
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    ...needs,
  };
  return Object.entries(directives)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");
};
