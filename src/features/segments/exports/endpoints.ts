import Type from "typebox";
import { Success, Text } from "../../../core/base/values/schemas.ts";
import {
  byAnybody,
  endpoint,
  type TextStream,
  withPermission,
} from "../../../core/http/endpoint.ts";
import { type DownloadServices, openDownload } from "./download.ts";
import {
  EXPORT_PATH,
  type SegmentExportServices,
  startSegmentExport,
  WantedSegmentExport,
} from "./exports.ts";

const start = endpoint({
  name: "exportSegment",
  method: "POST",
  path: "/users/export/segment",
  summary:
    "Makes a link to an archive with the users of a segment, or writes them into the workspace's bucket.",
  description:
    "The archive is written while it is downloaded, so it holds the users who meet the filter then. The link opens for four hours, a hundred times, and for as long as the API key may export. " +
    "If the workspace has an `export_bucket`, files of 5,000 users are written there, below `object_prefix`.",
  examples: {
    "As a zip archive": {
      segment_id: "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
      fields_to_export: ["external_id", "email", "custom_attributes"],
    },
  },
  access: withPermission("users.export.segment"),
  secrets: ["url"],
  body: WantedSegmentExport,
  replies: {
    201: Type.Object({
      object_prefix: Text(
        "Names the export; in a bucket, the folder of its files.",
        "segment-export/3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11/2026-01-31/0199f0a0",
      ),
      url: Type.Optional(
        Text(
          "The link. It needs no key. Absent if the files are written into a bucket.",
          "https://rapport.example/segment-exports/export_4fzS…",
        ),
      ),
      message: Success,
    }),
  },
  refusals: ["NOT_FOUND", "RATE_LIMITED"],
  idempotency: "ignored",
}).handledBy(async (services: SegmentExportServices, context, { body, baseUrl }) => {
  const { url, prefix } = await startSegmentExport(services, context, body, baseUrl);
  return { status: 201, body: { object_prefix: prefix, ...(url && { url }), message: "success" } };
});

const download = endpoint({
  name: "downloadSegmentExport",
  method: "GET",
  path: `${EXPORT_PATH}/:token`,
  summary: "Downloads an archive of users. The link is the permission.",
  access: byAnybody,
  takesLong: true,
  streams: true,
  produces: "application/octet-stream",
  params: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
  replies: {
    200: Type.Unsafe<TextStream>(Text("A zip or gzip file.", "PK\u0003\u0004")),
  },
  refusals: ["NOT_FOUND", "UNAVAILABLE"],
}).handledBy(async (services: DownloadServices, context, { params }) => {
  const { fileName, body, confirm } = await openDownload(services, context, params.token);
  const headers = {
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return { status: 200, headers, body, confirm };
});

export const segmentExportEndpoints = [start, download];
