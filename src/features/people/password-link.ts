/** What links for a new password have in common, by an owner or by the operator. */

/** How long a link is valid. */
export const PASSWORD_LINK_LIFETIME_MS = 60 * 60 * 1000;

/** A link's path below the address of the service. */
export const passwordLinkPath = (token: string): string => `/dashboard/password-links/${token}`;
