/** Sends a form and reports progress, which `fetch` cannot do: XMLHttpRequest can. */

/** The options that `fetch` would get. */
export interface ProgressRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal | null;
}

/** Like `fetch`; calls `onSent` with the number of bytes of the body sent so far. */
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
    request.onerror = () => reject(new TypeError("Network request failed"));
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
