/** A request whose sending can be watched: `fetch` does not tell, but a browser's XMLHttpRequest does. */

/** What `fetch` would be given. */
export interface ProgressRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal | null;
}

/** Like `fetch`; calls `onSent` with the bytes of the body that have been sent. */
export function sendWithProgress(
  url: string,
  { method, headers, body, signal }: ProgressRequest,
  onSent: (bytes: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new TypeError("The connection failed"));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) reject(signal.reason);
    else request.send(body);
  });
}

function responseOf(request: XMLHttpRequest): Response {
  const retryAfter = request.getResponseHeader("Retry-After");
  const headers = retryAfter === null ? {} : { "Retry-After": retryAfter };
  return new Response(request.responseText, { status: request.status, headers });
}
