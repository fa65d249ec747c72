/** Facts of signing in that pages and the service share, without the shapes of requests. */

/** The passkeys that one person can have. */
export const MAX_PASSKEYS = 20;

/** True for the path of a page of the dashboard: a link to sign in leads nowhere else. */
export const isDashboardPage = (path: string): boolean => /^\/dashboard(\/[\w\-/]*)?$/.test(path);
