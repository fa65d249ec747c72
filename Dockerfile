# Atrium on one machine: docs/guides/deploying.md, On one machine.
FROM node:24-bookworm-slim

# `ps` shows a service that hangs, which is then restarted.
RUN apt-get update && apt-get install --yes --no-install-recommends procps && rm -rf /var/lib/apt/lists/*

# All state is in one volume: the database, the rooms, the files, and the secrets in /data/settings.
RUN install --directory --owner node --group node /app /data
VOLUME /data
WORKDIR /app
USER node

COPY --chown=node:node package.json package-lock.json ./
COPY --chown=node:node packages packages
RUN npm ci --loglevel=error && npm cache clean --force
COPY --chown=node:node . .
# Whole seconds, which layers keep: a start compares them to tell whether a source has changed since.
RUN ln -s /data/settings .dev.vars \
  && find src packages examples docs *.md wrangler.toml node_modules/.package-lock.json -exec touch -d @1800000000 {} + \
  && node src/cli/bundle/prepare.ts

# Closed by default: no sign-up, no demo, no mail, and webhooks to public hosts only.
ENV ATRIUM_SIGN_UP=invite ATRIUM_DEMO_ACCOUNT_ID= ATRIUM_MAIL_FROM= ATRIUM_WEBHOOK_DEV_TARGETS= ATRIUM_ALLOWED_HOSTS=*
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["node", "-e", "fetch('http://localhost:8787/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "src/cli/start.ts", "--host", "0.0.0.0", "--persist-to", "/data"]
