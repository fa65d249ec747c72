/** The headers of our own pages: they may load, run and reach nothing but this service, and nobody may frame them. */

/** What a page needs beyond scripts, styles, pictures and calls of this service; by directive. */
export type PageNeeds = Readonly<Record<string, string>>;

/** The asset as a page or as a part of one. */
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

/** Not every browser counts a WebSocket to the page's own origin as 'self'. */
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
