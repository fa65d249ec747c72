/** The envelope of each answer of Cloudflare's API, and the refusals that it knows. */

/** A refusal: thrown wherever it is found out. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const unauthenticated = () => new Refusal(401, 10000, "Authentication error");
export const unroutable = (path: string) =>
  new Refusal(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`);
export const noNamespace = () => new Refusal(404, 100119, "workers.api.error.dispatch_namespace_not_found");
export const noScript = () => new Refusal(404, 10092, "workers.api.error.dispatch_script_not_found");
/** Of a Worker that is in no namespace: wrangler looks for one of the same name. */
export const noWorker = () => new Refusal(404, 10007, "This Worker does not exist on your account.");
export const badName = () => new Refusal(400, 10016, "workers.api.error.invalid_script_name");
export const tooLarge = () => new Refusal(413, 10027, "workers.api.error.script_too_large");
export const noHandlers = () =>
  new Refusal(400, 10068, "The uploaded script has no registered event handlers.");
/** What is wrong with the script or its metadata, in words. */
export const invalid = (message: string) => new Refusal(400, 10021, message);

export const success = (result: unknown, info?: object): Response =>
  Response.json({ success: true, errors: [], messages: [], result, ...(info && { result_info: info }) });

export const refused = ({ status, code, message }: Refusal): Response =>
  Response.json({ success: false, errors: [{ code, message }], messages: [], result: null }, { status });
