// Fields of what a cluster consists of: Nodes, namespaces, devices, and defaults for Pods.
#pragma once

#include "host/readers/fields/object_fields.hpp"

namespace espalier::fields {

inline constexpr Field kNodeSpecFields[] = {
    {"podCIDR", kInNodes}, {"podCIDRs", kInNodes}, {"providerID", kInNodes}, {"unschedulable"},
    {"taints", &kTaint},   {"configSource"},       {"externalID"},
};
inline constexpr KnownFields kNodeSpec(kNodeSpecFields);

inline constexpr Field kNodeStatusFields[] = {
    {"capacity", kInNodes},        {"allocatable"},         {"phase"},
    {"conditions", &kCondition},   {"addresses", kInNodes}, {"daemonEndpoints", kInNodes},
    {"nodeInfo", kInNodes},        {"images", kInNodes},    {"volumesInUse", kInNodes},
    {"volumesAttached", kInNodes}, {"config", kInNodes},    {"runtimeHandlers", kInNodes},
    {"features", kInNodes},        {"declaredFeatures"},
};
inline constexpr KnownFields kNodeStatus(kNodeStatusFields);

inline constexpr Field kNodeFields[] = {{"apiVersion"},
                                        {"kind"},
                                        {"metadata", &kMetadata},
                                        {"spec", &kNodeSpec},
                                        {"status", &kNodeStatus}};
inline constexpr KnownFields kNode(kNodeFields);

inline constexpr Field kOverheadFields[] = {{"podFixed"}};
inline constexpr KnownFields kOverhead(kOverheadFields);

inline constexpr Field kRuntimeClassFields[] = {{"apiVersion"},           {"kind"},
                                                {"metadata", &kMetadata}, {"handler"},
                                                {"overhead", &kOverhead}, {"scheduling"}};
inline constexpr KnownFields kRuntimeClass(kRuntimeClassFields);

inline constexpr Field kLimitFields[] = {
    {"type"}, {"max"}, {"min"}, {"default"}, {"defaultRequest"}, {"maxLimitRequestRatio"}};
inline constexpr KnownFields kLimit(kLimitFields);

inline constexpr Field kLimitRangeSpecFields[] = {{"limits", &kLimit}};
inline constexpr KnownFields kLimitRangeSpec(kLimitRangeSpecFields);

inline constexpr Field kLimitRangeFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kLimitRangeSpec}};
inline constexpr KnownFields kLimitRange(kLimitRangeFields);

inline constexpr Field kPriorityClassFields[] = {
    {"apiVersion"},    {"kind"},        {"metadata", &kMetadata}, {"value"},
    {"globalDefault"}, {"description"}, {"preemptionPolicy"}};
inline constexpr KnownFields kPriorityClass(kPriorityClassFields);

inline constexpr Field kNamespaceFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec"}, {"status"}};
inline constexpr KnownFields kNamespace(kNamespaceFields);

inline constexpr Field kCelFields[] = {{"expression"}};
inline constexpr KnownFields kCel(kCelFields);

inline constexpr Field kDeviceSelectorFields[] = {{"cel", &kCel}};
inline constexpr KnownFields kDeviceSelector(kDeviceSelectorFields);

inline constexpr Field kExactlyFields[] = {
    {"deviceClassName"}, {"selectors", &kDeviceSelector}, {"allocationMode"}, {"count"}};
inline constexpr KnownFields kExactly(kExactlyFields);

inline constexpr Field kDeviceRequestFields[] = {{"name"},
                                                 {"exactly", &kExactly},
                                                 {"firstAvailable", &kExactly},
                                                 {"deviceClassName"},
                                                 {"selectors", &kDeviceSelector},
                                                 {"allocationMode"},
                                                 {"count"}};
inline constexpr KnownFields kDeviceRequest(kDeviceRequestFields);

inline constexpr Field kDeviceConstraintFields[] = {
    {"requests"}, {"matchAttribute"}, {"distinctAttribute"}};
inline constexpr KnownFields kDeviceConstraint(kDeviceConstraintFields);

inline constexpr Field kDevicesFields[] = {
    {"requests", &kDeviceRequest}, {"constraints", &kDeviceConstraint}, {"config"}};
inline constexpr KnownFields kDevices(kDevicesFields);

inline constexpr Field kClaimSpecFields[] = {{"devices", &kDevices}, {"controller"}};
inline constexpr KnownFields kClaimSpec(kClaimSpecFields);

inline constexpr Field kClaimFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClaimSpec}, {"status"}};
inline constexpr KnownFields kClaim(kClaimFields);

inline constexpr Field kClaimTemplateSpecFields[] = {{"metadata", &kMetadata},
                                                     {"spec", &kClaimSpec}};
inline constexpr KnownFields kClaimTemplateSpec(kClaimTemplateSpecFields);

inline constexpr Field kClaimTemplateFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClaimTemplateSpec}};
inline constexpr KnownFields kClaimTemplate(kClaimTemplateFields);

inline constexpr Field kDeviceClassSpecFields[] = {{"selectors", &kDeviceSelector},
                                                   {"config"},
                                                   {"suitableNodes", &kRequired},
                                                   {"extendedResourceName"}};
inline constexpr KnownFields kDeviceClassSpec(kDeviceClassSpecFields);

inline constexpr Field kDeviceClassFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kDeviceClassSpec}};
inline constexpr KnownFields kDeviceClass(kDeviceClassFields);

inline constexpr Field kConfigMapFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"data"}, {"binaryData"}, {"immutable"}};
inline constexpr KnownFields kConfigMap(kConfigMapFields);

}  // namespace espalier::fields
