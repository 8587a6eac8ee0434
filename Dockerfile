# The sandbox on port 8080, as a user without rights. Data is in /data; give it a volume to keep it.
#
#   docker build -t ecm-sandbox .
#   docker run --rm -p 127.0.0.1:8080:8080 -e ECM_SANDBOX_ADMIN_TOKEN=s3cret ecm-sandbox
FROM node:22-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --pack-destination /tmp

FROM node:22-slim
COPY --from=build /tmp/ecm-*.tgz /tmp/ecm.tgz
RUN npm install --global --ignore-scripts --no-audit --no-fund /tmp/ecm.tgz && rm /tmp/ecm.tgz \
  && mkdir /data && chown node:node /data
USER node
ENV ECM_STATE_DIR=/data ECM_CONFIG_DIR=/data/config ECM_CACHE_DIR=/data/cache
VOLUME /data
EXPOSE 8080
# Any answer of the service will do: without the token it is a refusal.
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/__sandbox/health').then((answer) => process.exit(answer.status < 500 ? 0 : 1), () => process.exit(1))"]
# Flags of `ecm sandbox start` go behind the name of the image.
ENTRYPOINT ["ecm", "sandbox", "start", "--host", "0.0.0.0", "--port", "8080", "--data", "/data/sandbox"]
