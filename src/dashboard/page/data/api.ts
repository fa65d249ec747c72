/** Requests to `/dashboard/api`: sign-in, the signed-in person, and their organizations. */
import { AtriumError } from "atrium/server";

interface Envelope {
  readonly data: unknown;
  readonly error: { readonly code: string; readonly module: string; readonly message: string } | null;
  readonly requestId: string;
}

/** Calls `/dashboard/api/…`. Throws {@link AtriumError}, as the SDK does. */
export async function callDashboard<Data>(
  method: "GET" | "POST" | "PATCH",
  path: string,
  body?: object,
): Promise<Data> {
  const { data, error, requestId } = await send(method, path, body);
  if (error !== null) throw new AtriumError(error, requestId);
  return data as Data;
}

async function send(method: string, path: string, body?: object): Promise<Envelope> {
  const headers = { "Content-Type": "application/json" };
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  try {
    const response = await fetch(`/dashboard/api/${path}`, init);
    return (await response.json()) as Envelope;
  } catch (error) {
    const message = `The service could not be reached or sent an invalid response: ${String(error)}`;
    throw new AtriumError({ code: "UNREACHABLE", module: "Client", message });
  }
}
