/** Loads the code of a page when it is first opened: pages that are never opened cost nothing. */
import { untilAnswered } from "./connection.ts";

const RELOADED_AT = "atrium.reloaded-at";
/** A reload fetches the code of a new deployment. A second one this soon would only fail again. */
const RELOAD_AGAIN_MS = 30_000;

/**
 * The module that `load` imports. When its file does not arrive, this waits until the service answers and opens the
 * page afresh: the browser remembers a failed import, and a new deployment has files of other names. Rejects when
 * that has just been tried.
 */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    await untilAnswered();
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < RELOAD_AGAIN_MS) throw error;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    location.reload();
    return new Promise(() => {});
  }
}
