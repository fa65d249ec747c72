/** The explanation of a webhook's signing secret. */
export const SECRET_ADVICE =
  "Your endpoint verifies signatures with it (verifyWebhook in atrium/server). You will not see it again.";
