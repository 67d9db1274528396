/* Valid objects of a track request. */

export const TIME = "2026-01-01T12:00:00Z";

export const attributes = (external_id: string, more: object = {}) => ({ external_id, ...more });

export const event = (external_id: string, more: object = {}) => ({
  external_id,
  name: "opened",
  time: TIME,
  ...more,
});

export const purchase = (external_id: string, more: object = {}) => ({
  external_id,
  product_id: "book",
  currency: "EUR",
  price: 1,
  time: TIME,
  ...more,
});
