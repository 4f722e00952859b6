#!/usr/bin/env python3
"""Reads TensorBoard event files with Google's protobuf and, where it is there, the crc32c package: nothing of it is this project's.

    tfevents.py FOLDER     prints a list of [wall_time, step, tag, value] as JSON; 77: there is no google.protobuf

The messages are declared here as TensorFlow's event.proto and summary.proto have them, as far as scalars go.
"""
import json, pathlib, struct, sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf import message_factory
except ImportError:
    sys.exit(77)
try:
    from crc32c import crc32c
except ImportError:
    crc32c = None

F = descriptor_pb2.FieldDescriptorProto


def declare():
    file = descriptor_pb2.FileDescriptorProto(name="events.proto", package="tensorflow", syntax="proto3")

    def message(parent, name, *fields):
        m = parent.add(name=name)
        for number, field, kind, label, of in fields:
            f = m.field.add(name=field, number=number, type=kind, label=label)
            if of:
                f.type_name = of
        return m

    summary = message(file.message_type, "Summary", (1, "value", F.TYPE_MESSAGE, F.LABEL_REPEATED, ".tensorflow.Summary.Value"))
    message(summary.nested_type, "Value", (1, "tag", F.TYPE_STRING, F.LABEL_OPTIONAL, None), (2, "simple_value", F.TYPE_FLOAT, F.LABEL_OPTIONAL, None))
    message(file.message_type, "Event", (1, "wall_time", F.TYPE_DOUBLE, F.LABEL_OPTIONAL, None), (2, "step", F.TYPE_INT64, F.LABEL_OPTIONAL, None),
            (3, "file_version", F.TYPE_STRING, F.LABEL_OPTIONAL, None), (5, "summary", F.TYPE_MESSAGE, F.LABEL_OPTIONAL, ".tensorflow.Summary"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("tensorflow.Event")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


Event, rows = declare(), []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*tfevents*")):
    data, at, first = path.read_bytes(), 0, True
    while at + 16 <= len(data):
        size, of_size = struct.unpack_from("<QI", data, at)
        if at + 16 + size > len(data):
            break  # its process was killed in the write
        body, (of_body,) = data[at + 12:at + 12 + size], struct.unpack_from("<I", data, at + 12 + size)
        assert crc32c is None or (of_size == masked(data[at:at + 8]) and of_body == masked(body)), f"{path}: checksum at {at}"
        event = Event.FromString(body)
        assert first == (event.file_version == "brain.Event:2"), f"{path}: the first event is the version"
        rows += [[event.wall_time, event.step, v.tag, v.simple_value] for v in event.summary.value]
        first, at = False, at + 16 + size
print(json.dumps(rows))
