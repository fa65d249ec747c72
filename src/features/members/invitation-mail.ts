/** Invitations by mail: how many an organization may send, and what they say. */
import { layOut, type Mail } from "../mail/mail.ts";
import { nameInMail } from "../mail/name-in-mail.ts";

export const INVITATION_TOPIC = "invitation";

/** Per organization and day: anyone who signs up could otherwise send mails to strangers in masses. */
export const INVITATION_MAILS = { total: 100, perRecipient: 3 };

/** `invitedBy` is null for an API key. */
export function invitationMail(organization: string, invitedBy: string | null, url: string): Mail {
  const name = nameInMail(organization);
  const invitation =
    invitedBy === null
      ? `You are invited to ${name} on Atrium.`
      : `${nameInMail(invitedBy)} invites you to ${name} on Atrium.`;
  return layOut({
    subject: `Invitation to ${name}`,
    paragraphs: [invitation, "Open this link to join. It works once, within seven days, for this address."],
    link: { label: "Join", url },
    after: ["If you do not know who invites you, ignore this mail."],
  });
}
