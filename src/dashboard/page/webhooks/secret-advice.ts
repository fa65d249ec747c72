/** What a webhook's secret is for. */
export const SECRET_ADVICE =
  "Your receiver checks signatures with it (verifyWebhook in atrium/server). It is not shown again.";
