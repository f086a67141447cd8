/** A node of a structural schema, as `apiextensions.k8s.io/v1` takes it. */
export interface StructuralSchema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  description?: string;
  format?: string;
  default?: NonNullable<unknown>;
  enum?: NonNullable<unknown>[];
  nullable?: boolean;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  required?: string[];
  items?: StructuralSchema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: StructuralSchema[];
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: ValidationRule[];
}

/** A rule in CEL that the API server evaluates. */
export interface ValidationRule {
  rule: string;
  /** What is wrong and what to do. */
  message: string;
  /** CEL that gives the message with the value in it, in one line; where it fails, people read `message`. */
  messageExpression?: string;
}
