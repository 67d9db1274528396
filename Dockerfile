# Rapport in a container: docker build -t rapport . && docker run -p 127.0.0.1:8080:8080 -v rapport:/data rapport
#
# Two stages: the first compiles, the second holds what runs. The warehouse source `files` needs DuckDB (70 MB):
# build with --build-arg OMIT="--omit=dev". A tag may lead to another image tomorrow: pin the one that you have checked, with
# --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:… (docs/operations/install.md).
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build
ARG OMIT="--omit=dev --omit=optional"
RUN npm prune ${OMIT} --ignore-scripts --no-audit --no-fund && rm node_modules/rapport-client

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data RAPPORT_IMAGE=1
WORKDIR /app
COPY --from=build /src/package.json /src/openapi.json /src/openapi-admin.json /src/CHANGELOG.md /src/SECURITY.md /src/LICENSE ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/migrations migrations
COPY --from=build /src/docs docs
COPY --from=build /src/dist/reference dist/reference
COPY --from=build /src/dist/embedded-*.snapshot dist/
COPY --from=build /src/dist/web dist/web
COPY --from=build /src/dist/bundle dist/bundle
COPY --from=build /src/dist/build.json /src/dist/THIRD-PARTY-NOTICES /src/dist/sbom.json dist/
RUN install -d -o node -g node -m 0700 /data && ln -s /app/dist/bundle/main.js /usr/local/bin/rapport
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM drains requests in flight.
ENTRYPOINT ["node", "dist/bundle/main.js"]
CMD ["serve"]
