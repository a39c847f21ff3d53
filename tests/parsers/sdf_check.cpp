// SPDX-License-Identifier: Apache-2.0
// Reads SDFormat files with libsdformat and prints what it has to say, as `gz sdf --check` does.
// Exit code 0: loaded without an error; 1: errors; 2: usage.  Elements that are not in the specification (Gazebo reads
// some, as gz_frame_id) are warnings, with --strict errors.
#include <iostream>
#include <string>
#include <sdf/sdf.hh>

int main(int argc, char **argv)
{
  if (argc < 2)
  {
    std::cerr << "usage: sdf_check [--strict] FILE...\n";
    return 2;
  }
  int code = 0;
  auto unknown = sdf::EnforcementPolicy::WARN;
  for (int i = 1; i < argc; ++i)
  {
    if (std::string(argv[i]) == "--strict")
    {
      unknown = sdf::EnforcementPolicy::ERR;
      continue;
    }
    sdf::ParserConfig config = sdf::ParserConfig::GlobalConfig();
    config.SetUnrecognizedElementsPolicy(unknown);
    config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::WARN);
    sdf::Root root;
    const sdf::Errors errors = root.Load(std::string(argv[i]), config);
    for (const auto &error : errors)
      std::cout << error << "\n";
    if (!errors.empty())
    {
      code = 1;
      continue;
    }
    // the same list as `gz sdf --check`; each prints its own complaints
    bool sound = sdf::checkCanonicalLinkNames(&root);
    sound = sdf::checkJointParentChildLinkNames(&root) && sound;
    sound = sdf::checkFrameAttachedToNames(&root) && sound;
    sound = sdf::checkFrameAttachedToGraph(&root) && sound;
    sound = sdf::checkPoseRelativeToGraph(&root) && sound;
    sound = sdf::recursiveSameTypeUniqueNames(root.Element()) && sound;
    sound = sdf::recursiveSiblingUniqueNames(root.Element()) && sound;
    if (!sound)
      code = 1;
  }
  return code;
}
