// Generated from the OpenAPI documents of Kubernetes v1.34.4 by runtime/api/generate/kubernetes-schemas.ts; do not edit.
/** Structural schemas by short name, as JSON text: parsed by those who need them only. `$ref` holds a short name. */
export const KUBERNETES_SCHEMAS = String.raw`{
 "api.Quantity": {
  "anyOf": [
   {
    "type": "integer"
   },
   {
    "type": "string"
   }
  ],
  "x-kubernetes-int-or-string": true,
  "pattern": "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"
 },
 "apps.DeploymentSpec": {
  "type": "object",
  "required": [
   "selector",
   "template"
  ],
  "properties": {
   "minReadySeconds": {
    "type": "integer",
    "format": "int32"
   },
   "paused": {
    "type": "boolean"
   },
   "progressDeadlineSeconds": {
    "type": "integer",
    "format": "int32"
   },
   "replicas": {
    "type": "integer",
    "format": "int32"
   },
   "revisionHistoryLimit": {
    "type": "integer",
    "format": "int32"
   },
   "selector": {
    "$ref": "meta.LabelSelector"
   },
   "strategy": {
    "$ref": "apps.DeploymentStrategy"
   },
   "template": {
    "$ref": "core.PodTemplateSpec"
   }
  }
 },
 "apps.DeploymentStrategy": {
  "type": "object",
  "properties": {
   "rollingUpdate": {
    "$ref": "apps.RollingUpdateDeployment"
   },
   "type": {
    "type": "string"
   }
  }
 },
 "apps.RollingUpdateDeployment": {
  "type": "object",
  "properties": {
   "maxSurge": {
    "$ref": "util.IntOrString"
   },
   "maxUnavailable": {
    "$ref": "util.IntOrString"
   }
  }
 },
 "core.AWSElasticBlockStoreVolumeSource": {
  "type": "object",
  "required": [
   "volumeID"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "partition": {
    "type": "integer",
    "format": "int32"
   },
   "readOnly": {
    "type": "boolean"
   },
   "volumeID": {
    "type": "string"
   }
  }
 },
 "core.Affinity": {
  "type": "object",
  "properties": {
   "nodeAffinity": {
    "$ref": "core.NodeAffinity"
   },
   "podAffinity": {
    "$ref": "core.PodAffinity"
   },
   "podAntiAffinity": {
    "$ref": "core.PodAntiAffinity"
   }
  }
 },
 "core.AppArmorProfile": {
  "type": "object",
  "required": [
   "type"
  ],
  "properties": {
   "localhostProfile": {
    "type": "string"
   },
   "type": {
    "type": "string"
   }
  }
 },
 "core.AzureDiskVolumeSource": {
  "type": "object",
  "required": [
   "diskName",
   "diskURI"
  ],
  "properties": {
   "cachingMode": {
    "type": "string",
    "default": "ReadWrite"
   },
   "diskName": {
    "type": "string"
   },
   "diskURI": {
    "type": "string"
   },
   "fsType": {
    "type": "string",
    "default": "ext4"
   },
   "kind": {
    "type": "string",
    "default": "Shared"
   },
   "readOnly": {
    "type": "boolean"
   }
  }
 },
 "core.AzureFileVolumeSource": {
  "type": "object",
  "required": [
   "secretName",
   "shareName"
  ],
  "properties": {
   "readOnly": {
    "type": "boolean"
   },
   "secretName": {
    "type": "string"
   },
   "shareName": {
    "type": "string"
   }
  }
 },
 "core.CSIVolumeSource": {
  "type": "object",
  "required": [
   "driver"
  ],
  "properties": {
   "driver": {
    "type": "string"
   },
   "fsType": {
    "type": "string"
   },
   "nodePublishSecretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "readOnly": {
    "type": "boolean"
   },
   "volumeAttributes": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   }
  }
 },
 "core.Capabilities": {
  "type": "object",
  "properties": {
   "add": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "drop": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.CephFSVolumeSource": {
  "type": "object",
  "required": [
   "monitors"
  ],
  "properties": {
   "monitors": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "path": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretFile": {
    "type": "string"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "user": {
    "type": "string"
   }
  }
 },
 "core.CinderVolumeSource": {
  "type": "object",
  "required": [
   "volumeID"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "volumeID": {
    "type": "string"
   }
  }
 },
 "core.ClientIPConfig": {
  "type": "object",
  "properties": {
   "timeoutSeconds": {
    "type": "integer",
    "format": "int32"
   }
  }
 },
 "core.ClusterTrustBundleProjection": {
  "type": "object",
  "required": [
   "path"
  ],
  "properties": {
   "labelSelector": {
    "$ref": "meta.LabelSelector"
   },
   "name": {
    "type": "string"
   },
   "optional": {
    "type": "boolean"
   },
   "path": {
    "type": "string"
   },
   "signerName": {
    "type": "string"
   }
  }
 },
 "core.ConfigMapEnvSource": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.ConfigMapKeySelector": {
  "type": "object",
  "required": [
   "key"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "key": {
    "type": "string"
   },
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.ConfigMapProjection": {
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.KeyToPath"
    }
   },
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.ConfigMapVolumeSource": {
  "type": "object",
  "properties": {
   "defaultMode": {
    "type": "integer",
    "format": "int32"
   },
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.KeyToPath"
    }
   },
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.Container": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "args": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "command": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "env": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.EnvVar"
    }
   },
   "envFrom": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.EnvFromSource"
    }
   },
   "image": {
    "type": "string"
   },
   "imagePullPolicy": {
    "type": "string"
   },
   "lifecycle": {
    "$ref": "core.Lifecycle"
   },
   "livenessProbe": {
    "$ref": "core.Probe"
   },
   "name": {
    "type": "string"
   },
   "ports": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "containerPort",
     "protocol"
    ],
    "items": {
     "$ref": "core.ContainerPort"
    }
   },
   "readinessProbe": {
    "$ref": "core.Probe"
   },
   "resizePolicy": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.ContainerResizePolicy"
    }
   },
   "resources": {
    "$ref": "core.ResourceRequirements"
   },
   "restartPolicy": {
    "type": "string"
   },
   "restartPolicyRules": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.ContainerRestartRule"
    }
   },
   "securityContext": {
    "$ref": "core.SecurityContext"
   },
   "startupProbe": {
    "$ref": "core.Probe"
   },
   "stdin": {
    "type": "boolean"
   },
   "stdinOnce": {
    "type": "boolean"
   },
   "terminationMessagePath": {
    "type": "string"
   },
   "terminationMessagePolicy": {
    "type": "string"
   },
   "tty": {
    "type": "boolean"
   },
   "volumeDevices": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "devicePath"
    ],
    "items": {
     "$ref": "core.VolumeDevice"
    }
   },
   "volumeMounts": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "mountPath"
    ],
    "items": {
     "$ref": "core.VolumeMount"
    }
   },
   "workingDir": {
    "type": "string"
   }
  }
 },
 "core.ContainerImage": {
  "type": "object",
  "properties": {
   "names": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "sizeBytes": {
    "type": "integer",
    "format": "int64"
   }
  }
 },
 "core.ContainerPort": {
  "type": "object",
  "required": [
   "containerPort"
  ],
  "properties": {
   "containerPort": {
    "type": "integer",
    "format": "int32"
   },
   "hostIP": {
    "type": "string"
   },
   "hostPort": {
    "type": "integer",
    "format": "int32"
   },
   "name": {
    "type": "string"
   },
   "protocol": {
    "type": "string",
    "default": "TCP"
   }
  }
 },
 "core.ContainerResizePolicy": {
  "type": "object",
  "required": [
   "resourceName",
   "restartPolicy"
  ],
  "properties": {
   "resourceName": {
    "type": "string"
   },
   "restartPolicy": {
    "type": "string"
   }
  }
 },
 "core.ContainerRestartRule": {
  "type": "object",
  "required": [
   "action"
  ],
  "properties": {
   "action": {
    "type": "string"
   },
   "exitCodes": {
    "$ref": "core.ContainerRestartRuleOnExitCodes"
   }
  }
 },
 "core.ContainerRestartRuleOnExitCodes": {
  "type": "object",
  "required": [
   "operator"
  ],
  "properties": {
   "operator": {
    "type": "string"
   },
   "values": {
    "type": "array",
    "x-kubernetes-list-type": "set",
    "items": {
     "type": "integer",
     "format": "int32"
    }
   }
  }
 },
 "core.DownwardAPIProjection": {
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.DownwardAPIVolumeFile"
    }
   }
  }
 },
 "core.DownwardAPIVolumeFile": {
  "type": "object",
  "required": [
   "path"
  ],
  "properties": {
   "fieldRef": {
    "$ref": "core.ObjectFieldSelector"
   },
   "mode": {
    "type": "integer",
    "format": "int32"
   },
   "path": {
    "type": "string"
   },
   "resourceFieldRef": {
    "$ref": "core.ResourceFieldSelector"
   }
  }
 },
 "core.DownwardAPIVolumeSource": {
  "type": "object",
  "properties": {
   "defaultMode": {
    "type": "integer",
    "format": "int32"
   },
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.DownwardAPIVolumeFile"
    }
   }
  }
 },
 "core.EmptyDirVolumeSource": {
  "type": "object",
  "properties": {
   "medium": {
    "type": "string"
   },
   "sizeLimit": {
    "$ref": "api.Quantity"
   }
  }
 },
 "core.EnvFromSource": {
  "type": "object",
  "properties": {
   "configMapRef": {
    "$ref": "core.ConfigMapEnvSource"
   },
   "prefix": {
    "type": "string"
   },
   "secretRef": {
    "$ref": "core.SecretEnvSource"
   }
  }
 },
 "core.EnvVar": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   },
   "value": {
    "type": "string"
   },
   "valueFrom": {
    "$ref": "core.EnvVarSource"
   }
  }
 },
 "core.EnvVarSource": {
  "type": "object",
  "properties": {
   "configMapKeyRef": {
    "$ref": "core.ConfigMapKeySelector"
   },
   "fieldRef": {
    "$ref": "core.ObjectFieldSelector"
   },
   "fileKeyRef": {
    "$ref": "core.FileKeySelector"
   },
   "resourceFieldRef": {
    "$ref": "core.ResourceFieldSelector"
   },
   "secretKeyRef": {
    "$ref": "core.SecretKeySelector"
   }
  }
 },
 "core.EphemeralContainer": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "args": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "command": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "env": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.EnvVar"
    }
   },
   "envFrom": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.EnvFromSource"
    }
   },
   "image": {
    "type": "string"
   },
   "imagePullPolicy": {
    "type": "string"
   },
   "lifecycle": {
    "$ref": "core.Lifecycle"
   },
   "livenessProbe": {
    "$ref": "core.Probe"
   },
   "name": {
    "type": "string"
   },
   "ports": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "containerPort",
     "protocol"
    ],
    "items": {
     "$ref": "core.ContainerPort"
    }
   },
   "readinessProbe": {
    "$ref": "core.Probe"
   },
   "resizePolicy": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.ContainerResizePolicy"
    }
   },
   "resources": {
    "$ref": "core.ResourceRequirements"
   },
   "restartPolicy": {
    "type": "string"
   },
   "restartPolicyRules": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.ContainerRestartRule"
    }
   },
   "securityContext": {
    "$ref": "core.SecurityContext"
   },
   "startupProbe": {
    "$ref": "core.Probe"
   },
   "stdin": {
    "type": "boolean"
   },
   "stdinOnce": {
    "type": "boolean"
   },
   "targetContainerName": {
    "type": "string"
   },
   "terminationMessagePath": {
    "type": "string"
   },
   "terminationMessagePolicy": {
    "type": "string"
   },
   "tty": {
    "type": "boolean"
   },
   "volumeDevices": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "devicePath"
    ],
    "items": {
     "$ref": "core.VolumeDevice"
    }
   },
   "volumeMounts": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "mountPath"
    ],
    "items": {
     "$ref": "core.VolumeMount"
    }
   },
   "workingDir": {
    "type": "string"
   }
  }
 },
 "core.EphemeralVolumeSource": {
  "type": "object",
  "properties": {
   "volumeClaimTemplate": {
    "$ref": "core.PersistentVolumeClaimTemplate"
   }
  }
 },
 "core.ExecAction": {
  "type": "object",
  "properties": {
   "command": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.FCVolumeSource": {
  "type": "object",
  "properties": {
   "fsType": {
    "type": "string"
   },
   "lun": {
    "type": "integer",
    "format": "int32"
   },
   "readOnly": {
    "type": "boolean"
   },
   "targetWWNs": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "wwids": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.FileKeySelector": {
  "type": "object",
  "required": [
   "volumeName",
   "path",
   "key"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "key": {
    "type": "string"
   },
   "optional": {
    "type": "boolean"
   },
   "path": {
    "type": "string"
   },
   "volumeName": {
    "type": "string"
   }
  }
 },
 "core.FlexVolumeSource": {
  "type": "object",
  "required": [
   "driver"
  ],
  "properties": {
   "driver": {
    "type": "string"
   },
   "fsType": {
    "type": "string"
   },
   "options": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   }
  }
 },
 "core.FlockerVolumeSource": {
  "type": "object",
  "properties": {
   "datasetName": {
    "type": "string"
   },
   "datasetUUID": {
    "type": "string"
   }
  }
 },
 "core.GCEPersistentDiskVolumeSource": {
  "type": "object",
  "required": [
   "pdName"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "partition": {
    "type": "integer",
    "format": "int32"
   },
   "pdName": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   }
  }
 },
 "core.GRPCAction": {
  "type": "object",
  "required": [
   "port"
  ],
  "properties": {
   "port": {
    "type": "integer",
    "format": "int32"
   },
   "service": {
    "type": "string"
   }
  }
 },
 "core.GitRepoVolumeSource": {
  "type": "object",
  "required": [
   "repository"
  ],
  "properties": {
   "directory": {
    "type": "string"
   },
   "repository": {
    "type": "string"
   },
   "revision": {
    "type": "string"
   }
  }
 },
 "core.GlusterfsVolumeSource": {
  "type": "object",
  "required": [
   "endpoints",
   "path"
  ],
  "properties": {
   "endpoints": {
    "type": "string"
   },
   "path": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   }
  }
 },
 "core.HTTPGetAction": {
  "type": "object",
  "required": [
   "port"
  ],
  "properties": {
   "host": {
    "type": "string"
   },
   "httpHeaders": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.HTTPHeader"
    }
   },
   "path": {
    "type": "string"
   },
   "port": {
    "$ref": "util.IntOrString"
   },
   "scheme": {
    "type": "string"
   }
  }
 },
 "core.HTTPHeader": {
  "type": "object",
  "required": [
   "name",
   "value"
  ],
  "properties": {
   "name": {
    "type": "string"
   },
   "value": {
    "type": "string"
   }
  }
 },
 "core.HostAlias": {
  "type": "object",
  "required": [
   "ip"
  ],
  "properties": {
   "hostnames": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "ip": {
    "type": "string"
   }
  }
 },
 "core.HostPathVolumeSource": {
  "type": "object",
  "required": [
   "path"
  ],
  "properties": {
   "path": {
    "type": "string"
   },
   "type": {
    "type": "string"
   }
  }
 },
 "core.ISCSIVolumeSource": {
  "type": "object",
  "required": [
   "targetPortal",
   "iqn",
   "lun"
  ],
  "properties": {
   "chapAuthDiscovery": {
    "type": "boolean"
   },
   "chapAuthSession": {
    "type": "boolean"
   },
   "fsType": {
    "type": "string"
   },
   "initiatorName": {
    "type": "string"
   },
   "iqn": {
    "type": "string"
   },
   "iscsiInterface": {
    "type": "string",
    "default": "default"
   },
   "lun": {
    "type": "integer",
    "format": "int32"
   },
   "portals": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "targetPortal": {
    "type": "string"
   }
  }
 },
 "core.ImageVolumeSource": {
  "type": "object",
  "properties": {
   "pullPolicy": {
    "type": "string"
   },
   "reference": {
    "type": "string"
   }
  }
 },
 "core.KeyToPath": {
  "type": "object",
  "required": [
   "key",
   "path"
  ],
  "properties": {
   "key": {
    "type": "string"
   },
   "mode": {
    "type": "integer",
    "format": "int32"
   },
   "path": {
    "type": "string"
   }
  }
 },
 "core.Lifecycle": {
  "type": "object",
  "properties": {
   "postStart": {
    "$ref": "core.LifecycleHandler"
   },
   "preStop": {
    "$ref": "core.LifecycleHandler"
   },
   "stopSignal": {
    "type": "string"
   }
  }
 },
 "core.LifecycleHandler": {
  "type": "object",
  "properties": {
   "exec": {
    "$ref": "core.ExecAction"
   },
   "httpGet": {
    "$ref": "core.HTTPGetAction"
   },
   "sleep": {
    "$ref": "core.SleepAction"
   },
   "tcpSocket": {
    "$ref": "core.TCPSocketAction"
   }
  }
 },
 "core.LocalObjectReference": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "name": {
    "type": "string",
    "default": ""
   }
  }
 },
 "core.NFSVolumeSource": {
  "type": "object",
  "required": [
   "server",
   "path"
  ],
  "properties": {
   "path": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "server": {
    "type": "string"
   }
  }
 },
 "core.NodeAffinity": {
  "type": "object",
  "properties": {
   "preferredDuringSchedulingIgnoredDuringExecution": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.PreferredSchedulingTerm"
    }
   },
   "requiredDuringSchedulingIgnoredDuringExecution": {
    "$ref": "core.NodeSelector"
   }
  }
 },
 "core.NodeSelector": {
  "type": "object",
  "required": [
   "nodeSelectorTerms"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "nodeSelectorTerms": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.NodeSelectorTerm"
    }
   }
  }
 },
 "core.NodeSelectorRequirement": {
  "type": "object",
  "required": [
   "key",
   "operator"
  ],
  "properties": {
   "key": {
    "type": "string"
   },
   "operator": {
    "type": "string"
   },
   "values": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.NodeSelectorTerm": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "matchExpressions": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.NodeSelectorRequirement"
    }
   },
   "matchFields": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.NodeSelectorRequirement"
    }
   }
  }
 },
 "core.ObjectFieldSelector": {
  "type": "object",
  "required": [
   "fieldPath"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "fieldPath": {
    "type": "string"
   }
  }
 },
 "core.ObjectReference": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "fieldPath": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "namespace": {
    "type": "string"
   },
   "resourceVersion": {
    "type": "string"
   },
   "uid": {
    "type": "string"
   }
  }
 },
 "core.PersistentVolumeClaimSpec": {
  "type": "object",
  "properties": {
   "accessModes": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "dataSource": {
    "$ref": "core.TypedLocalObjectReference"
   },
   "dataSourceRef": {
    "$ref": "core.TypedObjectReference"
   },
   "resources": {
    "$ref": "core.VolumeResourceRequirements"
   },
   "selector": {
    "$ref": "meta.LabelSelector"
   },
   "storageClassName": {
    "type": "string"
   },
   "volumeAttributesClassName": {
    "type": "string"
   },
   "volumeMode": {
    "type": "string"
   },
   "volumeName": {
    "type": "string"
   }
  }
 },
 "core.PersistentVolumeClaimTemplate": {
  "type": "object",
  "required": [
   "spec"
  ],
  "properties": {
   "metadata": {
    "$ref": "meta.ObjectMeta"
   },
   "spec": {
    "$ref": "core.PersistentVolumeClaimSpec"
   }
  }
 },
 "core.PersistentVolumeClaimVolumeSource": {
  "type": "object",
  "required": [
   "claimName"
  ],
  "properties": {
   "claimName": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   }
  }
 },
 "core.PhotonPersistentDiskVolumeSource": {
  "type": "object",
  "required": [
   "pdID"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "pdID": {
    "type": "string"
   }
  }
 },
 "core.PodAffinity": {
  "type": "object",
  "properties": {
   "preferredDuringSchedulingIgnoredDuringExecution": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.WeightedPodAffinityTerm"
    }
   },
   "requiredDuringSchedulingIgnoredDuringExecution": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.PodAffinityTerm"
    }
   }
  }
 },
 "core.PodAffinityTerm": {
  "type": "object",
  "required": [
   "topologyKey"
  ],
  "properties": {
   "labelSelector": {
    "$ref": "meta.LabelSelector"
   },
   "matchLabelKeys": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "mismatchLabelKeys": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "namespaceSelector": {
    "$ref": "meta.LabelSelector"
   },
   "namespaces": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "topologyKey": {
    "type": "string"
   }
  }
 },
 "core.PodAntiAffinity": {
  "type": "object",
  "properties": {
   "preferredDuringSchedulingIgnoredDuringExecution": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.WeightedPodAffinityTerm"
    }
   },
   "requiredDuringSchedulingIgnoredDuringExecution": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.PodAffinityTerm"
    }
   }
  }
 },
 "core.PodCertificateProjection": {
  "type": "object",
  "required": [
   "signerName",
   "keyType"
  ],
  "properties": {
   "certificateChainPath": {
    "type": "string"
   },
   "credentialBundlePath": {
    "type": "string"
   },
   "keyPath": {
    "type": "string"
   },
   "keyType": {
    "type": "string"
   },
   "maxExpirationSeconds": {
    "type": "integer",
    "format": "int32"
   },
   "signerName": {
    "type": "string"
   }
  }
 },
 "core.PodDNSConfig": {
  "type": "object",
  "properties": {
   "nameservers": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "options": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.PodDNSConfigOption"
    }
   },
   "searches": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.PodDNSConfigOption": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string"
   },
   "value": {
    "type": "string"
   }
  }
 },
 "core.PodOS": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   }
  }
 },
 "core.PodReadinessGate": {
  "type": "object",
  "required": [
   "conditionType"
  ],
  "properties": {
   "conditionType": {
    "type": "string"
   }
  }
 },
 "core.PodResourceClaim": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   },
   "resourceClaimName": {
    "type": "string"
   },
   "resourceClaimTemplateName": {
    "type": "string"
   }
  }
 },
 "core.PodSchedulingGate": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   }
  }
 },
 "core.PodSecurityContext": {
  "type": "object",
  "properties": {
   "appArmorProfile": {
    "$ref": "core.AppArmorProfile"
   },
   "fsGroup": {
    "type": "integer",
    "format": "int64"
   },
   "fsGroupChangePolicy": {
    "type": "string"
   },
   "runAsGroup": {
    "type": "integer",
    "format": "int64"
   },
   "runAsNonRoot": {
    "type": "boolean"
   },
   "runAsUser": {
    "type": "integer",
    "format": "int64"
   },
   "seLinuxChangePolicy": {
    "type": "string"
   },
   "seLinuxOptions": {
    "$ref": "core.SELinuxOptions"
   },
   "seccompProfile": {
    "$ref": "core.SeccompProfile"
   },
   "supplementalGroups": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "integer",
     "format": "int64"
    }
   },
   "supplementalGroupsPolicy": {
    "type": "string"
   },
   "sysctls": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.Sysctl"
    }
   },
   "windowsOptions": {
    "$ref": "core.WindowsSecurityContextOptions"
   }
  }
 },
 "core.PodSpec": {
  "type": "object",
  "required": [
   "containers"
  ],
  "properties": {
   "activeDeadlineSeconds": {
    "type": "integer",
    "format": "int64"
   },
   "affinity": {
    "$ref": "core.Affinity"
   },
   "automountServiceAccountToken": {
    "type": "boolean"
   },
   "containers": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.Container"
    }
   },
   "dnsConfig": {
    "$ref": "core.PodDNSConfig"
   },
   "dnsPolicy": {
    "type": "string"
   },
   "enableServiceLinks": {
    "type": "boolean"
   },
   "ephemeralContainers": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.EphemeralContainer"
    }
   },
   "hostAliases": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "ip"
    ],
    "items": {
     "$ref": "core.HostAlias"
    }
   },
   "hostIPC": {
    "type": "boolean"
   },
   "hostNetwork": {
    "type": "boolean"
   },
   "hostPID": {
    "type": "boolean"
   },
   "hostUsers": {
    "type": "boolean"
   },
   "hostname": {
    "type": "string"
   },
   "hostnameOverride": {
    "type": "string"
   },
   "imagePullSecrets": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.LocalObjectReference"
    }
   },
   "initContainers": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.Container"
    }
   },
   "nodeName": {
    "type": "string"
   },
   "nodeSelector": {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "additionalProperties": {
     "type": "string"
    }
   },
   "os": {
    "$ref": "core.PodOS"
   },
   "overhead": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   },
   "preemptionPolicy": {
    "type": "string"
   },
   "priority": {
    "type": "integer",
    "format": "int32"
   },
   "priorityClassName": {
    "type": "string"
   },
   "readinessGates": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.PodReadinessGate"
    }
   },
   "resourceClaims": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.PodResourceClaim"
    }
   },
   "resources": {
    "$ref": "core.ResourceRequirements"
   },
   "restartPolicy": {
    "type": "string"
   },
   "runtimeClassName": {
    "type": "string"
   },
   "schedulerName": {
    "type": "string"
   },
   "schedulingGates": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.PodSchedulingGate"
    }
   },
   "securityContext": {
    "$ref": "core.PodSecurityContext"
   },
   "serviceAccount": {
    "type": "string"
   },
   "serviceAccountName": {
    "type": "string"
   },
   "setHostnameAsFQDN": {
    "type": "boolean"
   },
   "shareProcessNamespace": {
    "type": "boolean"
   },
   "subdomain": {
    "type": "string"
   },
   "terminationGracePeriodSeconds": {
    "type": "integer",
    "format": "int64"
   },
   "tolerations": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.Toleration"
    }
   },
   "topologySpreadConstraints": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "topologyKey",
     "whenUnsatisfiable"
    ],
    "items": {
     "$ref": "core.TopologySpreadConstraint"
    }
   },
   "volumes": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.Volume"
    }
   }
  }
 },
 "core.PodTemplateSpec": {
  "type": "object",
  "properties": {
   "metadata": {
    "$ref": "meta.ObjectMeta"
   },
   "spec": {
    "$ref": "core.PodSpec"
   }
  }
 },
 "core.PortworxVolumeSource": {
  "type": "object",
  "required": [
   "volumeID"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "volumeID": {
    "type": "string"
   }
  }
 },
 "core.PreferredSchedulingTerm": {
  "type": "object",
  "required": [
   "weight",
   "preference"
  ],
  "properties": {
   "preference": {
    "$ref": "core.NodeSelectorTerm"
   },
   "weight": {
    "type": "integer",
    "format": "int32"
   }
  }
 },
 "core.Probe": {
  "type": "object",
  "properties": {
   "exec": {
    "$ref": "core.ExecAction"
   },
   "failureThreshold": {
    "type": "integer",
    "format": "int32"
   },
   "grpc": {
    "$ref": "core.GRPCAction"
   },
   "httpGet": {
    "$ref": "core.HTTPGetAction"
   },
   "initialDelaySeconds": {
    "type": "integer",
    "format": "int32"
   },
   "periodSeconds": {
    "type": "integer",
    "format": "int32"
   },
   "successThreshold": {
    "type": "integer",
    "format": "int32"
   },
   "tcpSocket": {
    "$ref": "core.TCPSocketAction"
   },
   "terminationGracePeriodSeconds": {
    "type": "integer",
    "format": "int64"
   },
   "timeoutSeconds": {
    "type": "integer",
    "format": "int32"
   }
  }
 },
 "core.ProjectedVolumeSource": {
  "type": "object",
  "properties": {
   "defaultMode": {
    "type": "integer",
    "format": "int32"
   },
   "sources": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.VolumeProjection"
    }
   }
  }
 },
 "core.QuobyteVolumeSource": {
  "type": "object",
  "required": [
   "registry",
   "volume"
  ],
  "properties": {
   "group": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "registry": {
    "type": "string"
   },
   "tenant": {
    "type": "string"
   },
   "user": {
    "type": "string"
   },
   "volume": {
    "type": "string"
   }
  }
 },
 "core.RBDVolumeSource": {
  "type": "object",
  "required": [
   "monitors",
   "image"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "image": {
    "type": "string"
   },
   "keyring": {
    "type": "string",
    "default": "/etc/ceph/keyring"
   },
   "monitors": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "pool": {
    "type": "string",
    "default": "rbd"
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "user": {
    "type": "string",
    "default": "admin"
   }
  }
 },
 "core.ResourceClaim": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   },
   "request": {
    "type": "string"
   }
  }
 },
 "core.ResourceFieldSelector": {
  "type": "object",
  "required": [
   "resource"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "containerName": {
    "type": "string"
   },
   "divisor": {
    "$ref": "api.Quantity"
   },
   "resource": {
    "type": "string"
   }
  }
 },
 "core.ResourceQuotaSpec": {
  "type": "object",
  "properties": {
   "hard": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   },
   "scopeSelector": {
    "$ref": "core.ScopeSelector"
   },
   "scopes": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.ResourceRequirements": {
  "type": "object",
  "properties": {
   "claims": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "name"
    ],
    "items": {
     "$ref": "core.ResourceClaim"
    }
   },
   "limits": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   },
   "requests": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   }
  }
 },
 "core.SELinuxOptions": {
  "type": "object",
  "properties": {
   "level": {
    "type": "string"
   },
   "role": {
    "type": "string"
   },
   "type": {
    "type": "string"
   },
   "user": {
    "type": "string"
   }
  }
 },
 "core.ScaleIOVolumeSource": {
  "type": "object",
  "required": [
   "gateway",
   "system",
   "secretRef"
  ],
  "properties": {
   "fsType": {
    "type": "string",
    "default": "xfs"
   },
   "gateway": {
    "type": "string"
   },
   "protectionDomain": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "sslEnabled": {
    "type": "boolean"
   },
   "storageMode": {
    "type": "string",
    "default": "ThinProvisioned"
   },
   "storagePool": {
    "type": "string"
   },
   "system": {
    "type": "string"
   },
   "volumeName": {
    "type": "string"
   }
  }
 },
 "core.ScopeSelector": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "matchExpressions": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.ScopedResourceSelectorRequirement"
    }
   }
  }
 },
 "core.ScopedResourceSelectorRequirement": {
  "type": "object",
  "required": [
   "scopeName",
   "operator"
  ],
  "properties": {
   "operator": {
    "type": "string"
   },
   "scopeName": {
    "type": "string"
   },
   "values": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "core.SeccompProfile": {
  "type": "object",
  "required": [
   "type"
  ],
  "properties": {
   "localhostProfile": {
    "type": "string"
   },
   "type": {
    "type": "string"
   }
  }
 },
 "core.SecretEnvSource": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.SecretKeySelector": {
  "type": "object",
  "required": [
   "key"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "key": {
    "type": "string"
   },
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.SecretProjection": {
  "type": "object",
  "properties": {
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.KeyToPath"
    }
   },
   "name": {
    "type": "string",
    "default": ""
   },
   "optional": {
    "type": "boolean"
   }
  }
 },
 "core.SecretVolumeSource": {
  "type": "object",
  "properties": {
   "defaultMode": {
    "type": "integer",
    "format": "int32"
   },
   "items": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "core.KeyToPath"
    }
   },
   "optional": {
    "type": "boolean"
   },
   "secretName": {
    "type": "string"
   }
  }
 },
 "core.SecurityContext": {
  "type": "object",
  "properties": {
   "allowPrivilegeEscalation": {
    "type": "boolean"
   },
   "appArmorProfile": {
    "$ref": "core.AppArmorProfile"
   },
   "capabilities": {
    "$ref": "core.Capabilities"
   },
   "privileged": {
    "type": "boolean"
   },
   "procMount": {
    "type": "string"
   },
   "readOnlyRootFilesystem": {
    "type": "boolean"
   },
   "runAsGroup": {
    "type": "integer",
    "format": "int64"
   },
   "runAsNonRoot": {
    "type": "boolean"
   },
   "runAsUser": {
    "type": "integer",
    "format": "int64"
   },
   "seLinuxOptions": {
    "$ref": "core.SELinuxOptions"
   },
   "seccompProfile": {
    "$ref": "core.SeccompProfile"
   },
   "windowsOptions": {
    "$ref": "core.WindowsSecurityContextOptions"
   }
  }
 },
 "core.ServiceAccountTokenProjection": {
  "type": "object",
  "required": [
   "path"
  ],
  "properties": {
   "audience": {
    "type": "string"
   },
   "expirationSeconds": {
    "type": "integer",
    "format": "int64"
   },
   "path": {
    "type": "string"
   }
  }
 },
 "core.ServicePort": {
  "type": "object",
  "required": [
   "port"
  ],
  "properties": {
   "appProtocol": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "nodePort": {
    "type": "integer",
    "format": "int32"
   },
   "port": {
    "type": "integer",
    "format": "int32"
   },
   "protocol": {
    "type": "string",
    "default": "TCP"
   },
   "targetPort": {
    "$ref": "util.IntOrString"
   }
  }
 },
 "core.ServiceSpec": {
  "type": "object",
  "properties": {
   "allocateLoadBalancerNodePorts": {
    "type": "boolean"
   },
   "clusterIP": {
    "type": "string"
   },
   "clusterIPs": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "externalIPs": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "externalName": {
    "type": "string"
   },
   "externalTrafficPolicy": {
    "type": "string"
   },
   "healthCheckNodePort": {
    "type": "integer",
    "format": "int32"
   },
   "internalTrafficPolicy": {
    "type": "string"
   },
   "ipFamilies": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "ipFamilyPolicy": {
    "type": "string"
   },
   "loadBalancerClass": {
    "type": "string"
   },
   "loadBalancerIP": {
    "type": "string"
   },
   "loadBalancerSourceRanges": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "ports": {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [
     "port",
     "protocol"
    ],
    "items": {
     "$ref": "core.ServicePort"
    }
   },
   "publishNotReadyAddresses": {
    "type": "boolean"
   },
   "selector": {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "additionalProperties": {
     "type": "string"
    }
   },
   "sessionAffinity": {
    "type": "string"
   },
   "sessionAffinityConfig": {
    "$ref": "core.SessionAffinityConfig"
   },
   "trafficDistribution": {
    "type": "string"
   },
   "type": {
    "type": "string"
   }
  }
 },
 "core.SessionAffinityConfig": {
  "type": "object",
  "properties": {
   "clientIP": {
    "$ref": "core.ClientIPConfig"
   }
  }
 },
 "core.SleepAction": {
  "type": "object",
  "required": [
   "seconds"
  ],
  "properties": {
   "seconds": {
    "type": "integer",
    "format": "int64"
   }
  }
 },
 "core.StorageOSVolumeSource": {
  "type": "object",
  "properties": {
   "fsType": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "secretRef": {
    "$ref": "core.LocalObjectReference"
   },
   "volumeName": {
    "type": "string"
   },
   "volumeNamespace": {
    "type": "string"
   }
  }
 },
 "core.Sysctl": {
  "type": "object",
  "required": [
   "name",
   "value"
  ],
  "properties": {
   "name": {
    "type": "string"
   },
   "value": {
    "type": "string"
   }
  }
 },
 "core.TCPSocketAction": {
  "type": "object",
  "required": [
   "port"
  ],
  "properties": {
   "host": {
    "type": "string"
   },
   "port": {
    "$ref": "util.IntOrString"
   }
  }
 },
 "core.Taint": {
  "type": "object",
  "required": [
   "key",
   "effect"
  ],
  "properties": {
   "effect": {
    "type": "string"
   },
   "key": {
    "type": "string"
   },
   "timeAdded": {
    "$ref": "meta.Time"
   },
   "value": {
    "type": "string"
   }
  }
 },
 "core.Toleration": {
  "type": "object",
  "properties": {
   "effect": {
    "type": "string"
   },
   "key": {
    "type": "string"
   },
   "operator": {
    "type": "string"
   },
   "tolerationSeconds": {
    "type": "integer",
    "format": "int64"
   },
   "value": {
    "type": "string"
   }
  }
 },
 "core.TopologySpreadConstraint": {
  "type": "object",
  "required": [
   "maxSkew",
   "topologyKey",
   "whenUnsatisfiable"
  ],
  "properties": {
   "labelSelector": {
    "$ref": "meta.LabelSelector"
   },
   "matchLabelKeys": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   },
   "maxSkew": {
    "type": "integer",
    "format": "int32"
   },
   "minDomains": {
    "type": "integer",
    "format": "int32"
   },
   "nodeAffinityPolicy": {
    "type": "string"
   },
   "nodeTaintsPolicy": {
    "type": "string"
   },
   "topologyKey": {
    "type": "string"
   },
   "whenUnsatisfiable": {
    "type": "string"
   }
  }
 },
 "core.TypedLocalObjectReference": {
  "type": "object",
  "required": [
   "kind",
   "name"
  ],
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "apiGroup": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "name": {
    "type": "string"
   }
  }
 },
 "core.TypedObjectReference": {
  "type": "object",
  "required": [
   "kind",
   "name"
  ],
  "properties": {
   "apiGroup": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "namespace": {
    "type": "string"
   }
  }
 },
 "core.Volume": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "awsElasticBlockStore": {
    "$ref": "core.AWSElasticBlockStoreVolumeSource"
   },
   "azureDisk": {
    "$ref": "core.AzureDiskVolumeSource"
   },
   "azureFile": {
    "$ref": "core.AzureFileVolumeSource"
   },
   "cephfs": {
    "$ref": "core.CephFSVolumeSource"
   },
   "cinder": {
    "$ref": "core.CinderVolumeSource"
   },
   "configMap": {
    "$ref": "core.ConfigMapVolumeSource"
   },
   "csi": {
    "$ref": "core.CSIVolumeSource"
   },
   "downwardAPI": {
    "$ref": "core.DownwardAPIVolumeSource"
   },
   "emptyDir": {
    "$ref": "core.EmptyDirVolumeSource"
   },
   "ephemeral": {
    "$ref": "core.EphemeralVolumeSource"
   },
   "fc": {
    "$ref": "core.FCVolumeSource"
   },
   "flexVolume": {
    "$ref": "core.FlexVolumeSource"
   },
   "flocker": {
    "$ref": "core.FlockerVolumeSource"
   },
   "gcePersistentDisk": {
    "$ref": "core.GCEPersistentDiskVolumeSource"
   },
   "gitRepo": {
    "$ref": "core.GitRepoVolumeSource"
   },
   "glusterfs": {
    "$ref": "core.GlusterfsVolumeSource"
   },
   "hostPath": {
    "$ref": "core.HostPathVolumeSource"
   },
   "image": {
    "$ref": "core.ImageVolumeSource"
   },
   "iscsi": {
    "$ref": "core.ISCSIVolumeSource"
   },
   "name": {
    "type": "string"
   },
   "nfs": {
    "$ref": "core.NFSVolumeSource"
   },
   "persistentVolumeClaim": {
    "$ref": "core.PersistentVolumeClaimVolumeSource"
   },
   "photonPersistentDisk": {
    "$ref": "core.PhotonPersistentDiskVolumeSource"
   },
   "portworxVolume": {
    "$ref": "core.PortworxVolumeSource"
   },
   "projected": {
    "$ref": "core.ProjectedVolumeSource"
   },
   "quobyte": {
    "$ref": "core.QuobyteVolumeSource"
   },
   "rbd": {
    "$ref": "core.RBDVolumeSource"
   },
   "scaleIO": {
    "$ref": "core.ScaleIOVolumeSource"
   },
   "secret": {
    "$ref": "core.SecretVolumeSource"
   },
   "storageos": {
    "$ref": "core.StorageOSVolumeSource"
   },
   "vsphereVolume": {
    "$ref": "core.VsphereVirtualDiskVolumeSource"
   }
  }
 },
 "core.VolumeDevice": {
  "type": "object",
  "required": [
   "name",
   "devicePath"
  ],
  "properties": {
   "devicePath": {
    "type": "string"
   },
   "name": {
    "type": "string"
   }
  }
 },
 "core.VolumeMount": {
  "type": "object",
  "required": [
   "name",
   "mountPath"
  ],
  "properties": {
   "mountPath": {
    "type": "string"
   },
   "mountPropagation": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "readOnly": {
    "type": "boolean"
   },
   "recursiveReadOnly": {
    "type": "string"
   },
   "subPath": {
    "type": "string"
   },
   "subPathExpr": {
    "type": "string"
   }
  }
 },
 "core.VolumeProjection": {
  "type": "object",
  "properties": {
   "clusterTrustBundle": {
    "$ref": "core.ClusterTrustBundleProjection"
   },
   "configMap": {
    "$ref": "core.ConfigMapProjection"
   },
   "downwardAPI": {
    "$ref": "core.DownwardAPIProjection"
   },
   "podCertificate": {
    "$ref": "core.PodCertificateProjection"
   },
   "secret": {
    "$ref": "core.SecretProjection"
   },
   "serviceAccountToken": {
    "$ref": "core.ServiceAccountTokenProjection"
   }
  }
 },
 "core.VolumeResourceRequirements": {
  "type": "object",
  "properties": {
   "limits": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   },
   "requests": {
    "type": "object",
    "additionalProperties": {
     "$ref": "api.Quantity"
    }
   }
  }
 },
 "core.VsphereVirtualDiskVolumeSource": {
  "type": "object",
  "required": [
   "volumePath"
  ],
  "properties": {
   "fsType": {
    "type": "string"
   },
   "storagePolicyID": {
    "type": "string"
   },
   "storagePolicyName": {
    "type": "string"
   },
   "volumePath": {
    "type": "string"
   }
  }
 },
 "core.WeightedPodAffinityTerm": {
  "type": "object",
  "required": [
   "weight",
   "podAffinityTerm"
  ],
  "properties": {
   "podAffinityTerm": {
    "$ref": "core.PodAffinityTerm"
   },
   "weight": {
    "type": "integer",
    "format": "int32"
   }
  }
 },
 "core.WindowsSecurityContextOptions": {
  "type": "object",
  "properties": {
   "gmsaCredentialSpec": {
    "type": "string"
   },
   "gmsaCredentialSpecName": {
    "type": "string"
   },
   "hostProcess": {
    "type": "boolean"
   },
   "runAsUserName": {
    "type": "string"
   }
  }
 },
 "discovery.Endpoint": {
  "type": "object",
  "required": [
   "addresses"
  ],
  "properties": {
   "addresses": {
    "type": "array",
    "x-kubernetes-list-type": "set",
    "items": {
     "type": "string"
    }
   },
   "conditions": {
    "$ref": "discovery.EndpointConditions"
   },
   "deprecatedTopology": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   },
   "hints": {
    "$ref": "discovery.EndpointHints"
   },
   "hostname": {
    "type": "string"
   },
   "nodeName": {
    "type": "string"
   },
   "targetRef": {
    "$ref": "core.ObjectReference"
   },
   "zone": {
    "type": "string"
   }
  }
 },
 "discovery.EndpointConditions": {
  "type": "object",
  "properties": {
   "ready": {
    "type": "boolean"
   },
   "serving": {
    "type": "boolean"
   },
   "terminating": {
    "type": "boolean"
   }
  }
 },
 "discovery.EndpointHints": {
  "type": "object",
  "properties": {
   "forNodes": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "discovery.ForNode"
    }
   },
   "forZones": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "discovery.ForZone"
    }
   }
  }
 },
 "discovery.EndpointPort": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "appProtocol": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "port": {
    "type": "integer",
    "format": "int32"
   },
   "protocol": {
    "type": "string"
   }
  }
 },
 "discovery.ForNode": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   }
  }
 },
 "discovery.ForZone": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   }
  }
 },
 "meta.LabelSelector": {
  "type": "object",
  "x-kubernetes-map-type": "atomic",
  "properties": {
   "matchExpressions": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "$ref": "meta.LabelSelectorRequirement"
    }
   },
   "matchLabels": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   }
  }
 },
 "meta.LabelSelectorRequirement": {
  "type": "object",
  "required": [
   "key",
   "operator"
  ],
  "properties": {
   "key": {
    "type": "string"
   },
   "operator": {
    "type": "string"
   },
   "values": {
    "type": "array",
    "x-kubernetes-list-type": "atomic",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "meta.ObjectMeta": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string"
   },
   "namespace": {
    "type": "string"
   },
   "labels": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   },
   "annotations": {
    "type": "object",
    "additionalProperties": {
     "type": "string"
    }
   },
   "finalizers": {
    "type": "array",
    "items": {
     "type": "string"
    }
   }
  }
 },
 "meta.Time": {
  "type": "string",
  "format": "date-time"
 },
 "util.IntOrString": {
  "anyOf": [
   {
    "type": "integer"
   },
   {
    "type": "string"
   }
  ],
  "x-kubernetes-int-or-string": true
 }
}`;
