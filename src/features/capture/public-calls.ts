import type { CapturedPermission } from "../../core/base/context/permissions.ts";
import {
  assetCreated,
  catalogCreated,
  contentBlockCreated,
  contentBlockUpdated,
  countedListOf,
  created,
  dispatched,
  exported,
  found,
  itemFound,
  keyCreated,
  listOf,
  queued,
  type Replier,
  scheduled,
  sendId,
  series,
  templateCreated,
  templateUpdated,
  transactional,
} from "./replies.ts";

/** A public call that Rapport does not serve. */
export type PublicCall = readonly [
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  permission: CapturedPermission,
  reply: Replier,
];

const MESSAGES: readonly PublicCall[] = [
  ["POST", "/messages/send", "messages.send", dispatched],
  ["POST", "/messages/schedule/create", "messages.schedule.create", scheduled],
  ["POST", "/messages/schedule/update", "messages.schedule.update", created],
  ["POST", "/messages/schedule/delete", "messages.schedule.delete", created],
  [
    "GET",
    "/messages/scheduled_broadcasts",
    "messages.schedule_broadcasts",
    listOf("scheduled_broadcasts"),
  ],
  ["POST", "/messages/live_activity/start", "messages.live_activity.start", created],
  ["POST", "/messages/live_activity/update", "messages.live_activity.update", created],
  ["POST", "/sends/id/create", "sends.id.create", sendId],
  ["GET", "/sends/data_series", "sends.data_series", series],
  ["POST", "/transactional/v1/campaigns/:campaign/send", "transactional.send", transactional],
];

const CAMPAIGNS: readonly PublicCall[] = [
  ["POST", "/campaigns/trigger/send", "campaigns.trigger.send", dispatched],
  ["POST", "/campaigns/trigger/schedule/create", "campaigns.trigger.schedule.create", scheduled],
  ["POST", "/campaigns/trigger/schedule/update", "campaigns.trigger.schedule.update", created],
  ["POST", "/campaigns/trigger/schedule/delete", "campaigns.trigger.schedule.delete", created],
  ["GET", "/campaigns/list", "campaigns.list", listOf("campaigns")],
  ["GET", "/campaigns/details", "campaigns.details", found],
  ["GET", "/campaigns/data_series", "campaigns.data_series", series],
  ["GET", "/campaigns/url_info/details", "campaigns.url_info.details", listOf("aliases")],
  ["POST", "/campaigns/duplicate", "campaigns.duplicate", queued],
  ["POST", "/canvas/trigger/send", "canvas.trigger.send", dispatched],
  ["POST", "/canvas/trigger/schedule/create", "canvas.trigger.schedule.create", scheduled],
  ["POST", "/canvas/trigger/schedule/update", "canvas.trigger.schedule.update", created],
  ["POST", "/canvas/trigger/schedule/delete", "canvas.trigger.schedule.delete", created],
  ["GET", "/canvas/list", "canvas.list", listOf("canvases")],
  ["GET", "/canvas/details", "canvas.details", found],
  ["GET", "/canvas/data_series", "canvas.data_series", series],
  ["GET", "/canvas/data_summary", "canvas.data_summary", series],
  ["GET", "/canvas/url_info/details", "canvas.url_info.details", listOf("aliases")],
  ["POST", "/canvas/duplicate", "canvas.duplicate", queued],
];

const FIGURES: readonly PublicCall[] = [
  ["POST", "/users/export/global_control_group", "users.export.global_control_group", exported],
  ["GET", "/purchases/revenue_series", "purchases.revenue_series", series],
  ["GET", "/purchases/quantity_series", "purchases.quantity_series", series],
  ["GET", "/events/data_series", "events.data_series", series],
  ["GET", "/sessions/data_series", "sessions.data_series", series],
  ["GET", "/feed/list", "feed.list", listOf("cards")],
  ["GET", "/feed/details", "feed.details", found],
  ["GET", "/feed/data_series", "feed.data_series", series],
  ["GET", "/kpi/new_users/data_series", "kpi.new_users.data_series", series],
  ["GET", "/kpi/dau/data_series", "kpi.dau.data_series", series],
  ["GET", "/kpi/mau/data_series", "kpi.mau.data_series", series],
  ["GET", "/kpi/uninstalls/data_series", "kpi.uninstalls.data_series", series],
];

const CONTENT: readonly PublicCall[] = [
  ["POST", "/templates/email/create", "templates.email.create", templateCreated],
  ["POST", "/templates/email/update", "templates.email.update", templateUpdated],
  ["GET", "/templates/email/info", "templates.email.info", found],
  ["GET", "/templates/email/list", "templates.email.list", countedListOf("templates")],
  ["GET", "/templates/email/translations", "templates.translations.get", listOf("translations")],
  ["PUT", "/templates/email/translations", "templates.translations.update", found],
  ["POST", "/content_blocks/create", "content_blocks.create", contentBlockCreated],
  ["POST", "/content_blocks/update", "content_blocks.update", contentBlockUpdated],
  ["GET", "/content_blocks/info", "content_blocks.info", found],
  ["GET", "/content_blocks/list", "content_blocks.list", countedListOf("content_blocks")],
  [
    "GET",
    "/content_blocks/translations",
    "content_blocks.translations.get",
    listOf("translations"),
  ],
  ["PUT", "/content_blocks/translations", "content_blocks.translations.update", found],
  ["POST", "/media_library/create", "media_library.create", assetCreated],
];

const CATALOGS: readonly PublicCall[] = [
  ["POST", "/catalogs", "catalogs.create", catalogCreated],
  ["GET", "/catalogs", "catalogs.get", listOf("catalogs")],
  ["DELETE", "/catalogs/:catalog", "catalogs.delete", found],
  ["POST", "/catalogs/:catalog/fields", "catalogs.create_fields", queued],
  ["DELETE", "/catalogs/:catalog/fields/:field", "catalogs.delete_fields", queued],
  ["POST", "/catalogs/:catalog/selections", "catalogs.create_selection", queued],
  ["DELETE", "/catalogs/:catalog/selections/:selection", "catalogs.delete_selection", queued],
  ["GET", "/catalogs/:catalog/items", "catalogs.get_items", listOf("items")],
  ["POST", "/catalogs/:catalog/items", "catalogs.add_items", queued],
  ["PATCH", "/catalogs/:catalog/items", "catalogs.update_items", queued],
  ["PUT", "/catalogs/:catalog/items", "catalogs.replace_items", queued],
  ["DELETE", "/catalogs/:catalog/items", "catalogs.delete_items", queued],
  ["GET", "/catalogs/:catalog/items/:item", "catalogs.get_item", itemFound],
  ["POST", "/catalogs/:catalog/items/:item", "catalogs.create_item", created],
  ["PATCH", "/catalogs/:catalog/items/:item", "catalogs.update_item", found],
  ["PUT", "/catalogs/:catalog/items/:item", "catalogs.replace_item", found],
  ["DELETE", "/catalogs/:catalog/items/:item", "catalogs.delete_item", found],
];

const ADDRESSES: readonly PublicCall[] = [
  ["POST", "/email/spam/remove", "email.spam.remove", created],
  ["GET", "/sms/invalid_phone_numbers", "sms.invalid_phone_numbers", listOf("sms")],
  ["POST", "/sms/invalid_phone_numbers/remove", "sms.invalid_phone_numbers.remove", created],
];

const APPS: readonly PublicCall[] = [
  ["POST", "/app_group/sdk_authentication/create", "sdk_authentication.create", keyCreated],
  ["PUT", "/app_group/sdk_authentication/primary", "sdk_authentication.primary", listOf("keys")],
  ["DELETE", "/app_group/sdk_authentication/delete", "sdk_authentication.delete", listOf("keys")],
  ["GET", "/app_group/sdk_authentication/keys", "sdk_authentication.keys", listOf("keys")],
];

/** Every public call that Rapport does not serve, by its public documentation. docs/compatibility.md */
export const PUBLIC_CALLS: readonly PublicCall[] = [
  ...MESSAGES,
  ...CAMPAIGNS,
  ...FIGURES,
  ...CONTENT,
  ...CATALOGS,
  ...ADDRESSES,
  ...APPS,
];
