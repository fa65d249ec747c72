/** The page to open after signing in. */

/** Only pages of this dashboard, so that a link to sign in cannot redirect to another site. */
export function nextAfter(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "";
  return /^\/dashboard\/[\w\-/]*$/.test(next) ? next : "/dashboard";
}
