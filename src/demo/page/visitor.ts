/** The visitor's token: one user per window, whom a reload keeps, and whose token is renewed while the page is open. */

const KEY = "token";
/** A token with less time left is renewed; the client asks a minute before it expires. In seconds. */
const RENEWAL_SECONDS = 120;

/** Keeps the token of a response. */
async function keep(response: Response): Promise<string> {
  const { data, error }: { data: { token: string }; error: Error | null } = await response.json();
  if (error !== null) throw new Error(error.message);
  sessionStorage.setItem(KEY, data.token);
  return data.token;
}

/** Another token of the same visitor; null when this one has ended. */
async function renew(token: string): Promise<string | null> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch("/demo/tokens", { method: "POST", headers });
  return response.status === 401 ? null : keep(response);
}

/** The seconds for which the token is still valid. */
function secondsLeft(token: string): number {
  const payload = token.split(".")[1] ?? "";
  const { exp }: { exp: number } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return exp - Date.now() / 1000;
}

/** The present token, renewed if it is about to end. Without one, or when it has ended, a new visitor: `?name=` names them. */
export async function visitorToken(): Promise<string> {
  const known = sessionStorage.getItem(KEY);
  if (known !== null && secondsLeft(known) > RENEWAL_SECONDS) return known;
  const renewed = known === null ? null : await renew(known);
  return renewed ?? keep(await fetch(`/demo/visitors${location.search}`, { method: "POST" }));
}
