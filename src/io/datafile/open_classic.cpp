// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/open_classic.hpp"

#include <memory>
#include <utility>

#include "io/datafile/classic_driver.hpp"
#include "io/datafile/classic_header.hpp"
#include "io/datafile/classic_structure.hpp"
#include "io/plotfile/file.hpp"

namespace neve::datafile {

Result<hdf5::Handle> open_classic(const std::string& path) {
  NEVE_ASSIGN(std::shared_ptr<plotfile::File> file, plotfile::File::open(path));
  NEVE_ASSIGN(ClassicHeader header, read_classic_header(*file));
  NEVE_ASSIGN(ClassicStructure structure, make_classic_structure(*file, header));
  ClassicValues values(std::move(file), std::move(header), std::move(structure.chunks));
  return open_classic_image(
      path, std::make_shared<const ClassicImage>(ClassicImage{std::move(structure.held), std::move(values)}));
}

}  // namespace neve::datafile
